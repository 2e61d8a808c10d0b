/** Converts Jupyter notebooks: text as it is, and code with its outputs in fences. */
import { type Converter, createOutput, type Output } from './converter.ts';

export const notebook: Converter = {
  name: 'notebook',
  from: ['application/x-ipynb+json'],
  to: ['text/markdown'],
  async convert(bytes, conversion) {
    const { cells, metadata } = JSON.parse(new TextDecoder().decode(bytes)) as Loose;
    if (!Array.isArray(cells)) throw new Error('The file contains no cells');
    const language = String(
      loose(loose(metadata).language_info).name ?? loose(loose(metadata).kernelspec).language ?? '',
    );
    const output = createOutput(conversion);
    for (const cell of cells.map(loose)) {
      const source = joined(cell.source);
      if (cell.cell_type === 'code') {
        if (source.trim() !== '') addFenced(output, source, language);
        for (const result of Array.isArray(cell.outputs) ? cell.outputs : []) addOutput(output, loose(result));
      } else if (cell.cell_type === 'raw') addFenced(output, source, '');
      else output.add(`${source.trimEnd()}\n\n`);
    }
    return output.text();
  },
};

type Loose = Readonly<Record<string, unknown>>;

const loose = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {});

/** Joins a text, which is either a list of lines or one string. */
const joined = (value: unknown): string =>
  Array.isArray(value)
    ? value.filter((line) => typeof line === 'string').join('')
    : typeof value === 'string'
      ? value
      : '';

function addOutput(output: Output, result: Loose): void {
  const { output_type, text, data, traceback, ename, evalue } = result;
  if (output_type === 'stream') addFenced(output, joined(text), 'text');
  else if (output_type === 'error') addFenced(output, joined(traceback) || `${ename}: ${evalue}`, 'text');
  else {
    const formats = loose(data);
    const markdown = joined(formats['text/markdown']);
    const plain = joined(formats['text/plain']);
    if (markdown !== '') output.add(`${markdown}\n\n`);
    else if (plain !== '') addFenced(output, plain, 'text');
    const image = Object.keys(formats).find((type) => type.startsWith('image/'));
    if (image !== undefined) output.add(`(An image, ${image.replace(/[^\w/+.-]/g, '')})\n\n`);
  }
}

/** Adds a text, without the codes that colour a terminal, in a fence that is longer than any in the text. */
function addFenced(output: Output, text: string, language: string): void {
  const bare = text.replace(/\u001b\[[\d;]*[A-Za-z]/g, '').trimEnd();
  if (bare === '') return;
  const longest = Math.max(2, ...[...bare.matchAll(/^ {0,3}(`{3,})/gm)].map(([, ticks = '']) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  output.add(`${fence}${language.replace(/[^\w+#.-]/g, '')}\n${bare}\n${fence}\n\n`);
}
