/** Converts texts and presentations in OpenDocument: headings, lists, tables, links and notes, slide by slide. */
import { textIn, unpack } from './archive.ts';
import { type Converter, createOutput, type Output, tooMuch } from './converter.ts';
import { addTable, heading, plain } from './markdown.ts';
import { all, type Element, first, parseXml } from './xml.ts';

export const openDocument: Converter = {
  name: 'open-document',
  from: [
    'application/vnd.oasis.opendocument.text',
    'application/vnd.oasis.opendocument.text-template',
    'application/vnd.oasis.opendocument.presentation',
    'application/vnd.oasis.opendocument.presentation-template',
  ],
  to: ['text/markdown'],
  async convert(bytes, conversion) {
    const xml = textIn(await unpack(bytes, (name) => name === 'content.xml', conversion), 'content.xml');
    if (xml === undefined) throw new Error('The file contains no content');
    const body = first(await parseXml(xml), 'office:body');
    const output = createOutput(conversion);
    if (body !== undefined) addBlocks(output, body, { slide: 0 });
    return output.text().replace(/\n{3,}/g, '\n\n');
  },
};

interface State {
  slide: number;
}

function addBlocks(output: Output, parent: Element, state: State): void {
  for (const child of parent.children) {
    if (typeof child === 'string') continue;
    switch (child.name) {
      case 'text:h':
        output.add(heading(Number(child.attributes['text:outline-level'] ?? 1), inline(child)));
        break;
      case 'text:p': {
        const text = inline(child).trim();
        if (text !== '') output.add(`${text}\n\n`);
        break;
      }
      case 'text:list':
        addList(output, child, 0);
        output.add('\n');
        break;
      case 'table:table':
        addTable(output, rowsOf(child));
        output.add('\n');
        break;
      case 'draw:page':
        output.add(heading(2, `Slide ${++state.slide}${titleOf(child)}`));
        addBlocks(output, child, state);
        break;
      case 'draw:frame':
        if (child.attributes['presentation:class'] !== 'title') addBlocks(output, child, state);
        break;
      case 'presentation:notes':
        for (const paragraph of all(child, 'text:p')) {
          const text = inline(paragraph).trim();
          if (text !== '') output.add(`> ${text}\n\n`);
        }
        break;
      case 'office:annotation':
      case 'text:tracked-changes':
      case 'text:sequence-decls':
      case 'office:forms':
        break;
      default:
        addBlocks(output, child, state);
    }
  }
}

function titleOf(page: Element): string {
  for (const frame of all(page, 'draw:frame')) {
    if (frame.attributes['presentation:class'] !== 'title') continue;
    const text = [...all(frame, 'text:p')].map(inline).join(' ').trim();
    if (text !== '') return `: ${text}`;
  }
  return '';
}

function addList(output: Output, list: Element, level: number): void {
  for (const item of list.children) {
    if (typeof item === 'string' || (item.name !== 'text:list-item' && item.name !== 'text:list-header')) continue;
    for (const child of item.children) {
      if (typeof child === 'string') continue;
      if (child.name === 'text:list') addList(output, child, level + 1);
      else {
        const text = inline(child).trim();
        if (text !== '') output.add(`${'  '.repeat(Math.min(8, level))}- ${text}\n`);
      }
    }
  }
}

/** The most repetitions of a cell. An empty cell that is repeated as often only fills the rest of a row, and is left out. */
const MAX_REPEATED = 100;

/** The most rows of a table, repeated ones included. No table that is written out has as many. */
const MAX_ROWS = 1_000_000;

/** @throws ResourceError `too-large` */
function rowsOf(table: Element): readonly (readonly string[])[] {
  const rows: (readonly string[])[] = [];
  for (const row of all(table, 'table:table-row')) {
    const cells = [...all(row, 'table:table-cell')].flatMap((cell) => {
      const text = [...all(cell, 'text:p')].map(inline).join(' ');
      const times = Math.min(MAX_REPEATED, timesOf(cell, 'table:number-columns-repeated'));
      return Array.from({ length: text === '' && times === MAX_REPEATED ? 0 : times }, () => text);
    });
    const times = timesOf(row, 'table:number-rows-repeated');
    // Empty rows that are repeated as often only fill the rest of a table.
    if (times >= MAX_REPEATED && cells.every((text) => text === '')) continue;
    if (rows.length + times > MAX_ROWS) throw tooMuch('A table', MAX_ROWS, 'rows');
    for (let time = 0; time < times; time++) rows.push(cells);
  }
  return rows;
}

/** Returns how often an element is repeated; at least once, whatever the attribute says. */
const timesOf = ({ attributes }: Element, name: string): number =>
  Math.max(1, Math.floor(Number(attributes[name] ?? 1)) || 1);

/** Returns the text in a paragraph, as Markdown. */
function inline(element: Element): string {
  return element.children
    .map((child): string => {
      if (typeof child === 'string') return plain(child.replace(/\s+/g, ' '));
      switch (child.name) {
        case 'text:s':
          return ' '.repeat(Math.min(100, Number(child.attributes['text:c'] ?? 1) || 1));
        case 'text:tab':
          return '\t';
        case 'text:line-break':
          return ' ';
        case 'text:a': {
          const target = child.attributes['xlink:href'] ?? '';
          const text = inline(child);
          return /^(?:https?|mailto):/i.test(target)
            ? `[${text}](${target.replace(/[\s()<>]/g, encodeURIComponent)})`
            : text;
        }
        case 'text:note':
          return ` (${[...all(child, 'text:p')].map(inline).join(' ').trim()})`;
        case 'office:annotation':
          return '';
        default:
          return inline(child);
      }
    })
    .join('');
}
