/** Converts PDF: the text of each page. Lines in larger letters become headings. */
import { type Converter, createOutput } from './converter.ts';

export const pdf: Converter = {
  name: 'pdf',
  from: ['application/pdf'],
  to: ['text/markdown'],
  async convert(bytes, conversion) {
    const { getDocumentProxy } = await import('unpdf');
    const document = await getDocumentProxy(new Uint8Array(bytes), {
      isEvalSupported: false,
      useSystemFonts: false,
      disableFontFace: true,
      stopAtErrors: false,
      verbosity: 0,
    });
    try {
      const output = createOutput(conversion);
      for (let number = 1; number <= document.numPages; number++) {
        const page = await document.getPage(number);
        const { items } = await page.getTextContent();
        output.add(`${number === 1 ? '' : '\n'}<!-- page ${number} -->\n\n`);
        output.add(pageText(linesOf(items as readonly Item[])));
        page.cleanup();
      }
      return output.text();
    } finally {
      // Later versions of the package have no `destroy` of the document itself.
      await document.loadingTask.destroy();
    }
  },
};

interface Item {
  /** Absent in items that only mark structure. */
  readonly str?: string;
  readonly hasEOL?: boolean;
  readonly height?: number;
  readonly transform?: readonly number[];
}

interface Line {
  readonly text: string;
  /** The height of its letters, in points. */
  readonly height: number;
  /** The distance from the bottom of the page, in points. */
  readonly at: number;
}

function linesOf(items: readonly Item[]): readonly Line[] {
  const lines: Line[] = [];
  let text = '';
  let height = 0;
  let at = 0;
  const end = (): void => {
    if (text.trim() !== '') lines.push({ text: text.replace(/\s+/g, ' ').trim(), height, at });
    text = '';
    height = 0;
  };
  for (const { str, hasEOL, height: tall = 0, transform } of items) {
    if (str === undefined) continue;
    const y = transform?.[5] ?? at;
    // Some programs do not mark the ends of lines, so text that stands higher or lower begins another line.
    if (str.trim() !== '' && text.trim() !== '' && Math.abs(y - at) > Math.max(tall, height) / 2) end();
    if (str.trim() !== '') at = y;
    text += str;
    height = Math.max(height, str.trim() === '' ? 0 : tall);
    if (hasEOL) end();
  }
  end();
  return lines;
}

/** Letters more than this many times as tall as usual make a heading. */
const HEADING = 1.15;
/** Letters more than this many times as tall as usual make a title. */
const TITLE = 1.6;

/** A gap of this many heights between lines ends a paragraph. */
const GAP = 1.6;

function pageText(lines: readonly Line[]): string {
  const usual = usualHeight(lines);
  let text = '';
  lines.forEach((line, index) => {
    const before = lines[index - 1];
    const level = levelOf(line, usual);
    const apart =
      before === undefined || before.at - line.at > GAP * Math.max(line.height, usual) || line.at > before.at;
    const separate = apart || level > 0 || levelOf(before, usual) > 0;
    text += `${index === 0 ? '' : separate ? '\n\n' : '\n'}${level === 0 ? '' : `${'#'.repeat(level)} `}${line.text}`;
  });
  return `${text}\n`;
}

function levelOf(line: Line | undefined, usual: number): number {
  if (line === undefined || usual === 0 || line.text.length > 200) return 0;
  return line.height > usual * TITLE ? 1 : line.height > usual * HEADING ? 2 : 0;
}

/** The height that most letters have. */
function usualHeight(lines: readonly Line[]): number {
  const letters = new Map<number, number>();
  for (const { height, text } of lines) {
    const rounded = Math.round(height * 2) / 2;
    letters.set(rounded, (letters.get(rounded) ?? 0) + text.length);
  }
  return [...letters].reduce((most, entry) => (entry[1] > most[1] ? entry : most), [0, 0] as readonly [
    number,
    number,
  ])[0];
}
