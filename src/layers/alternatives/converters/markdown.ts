/** Writes tables, headings and plain text as Markdown, and converts HTML to it. */
import { type ConversionLimits, createOutput, type Output } from './converter.ts';

/** Writes a table cell: line ends become spaces and bars are escaped, since both would end the cell. */
const cellText = (cell: string): string =>
  cell
    .replaceAll('\\', '\\\\')
    .replaceAll('|', '\\|')
    .replace(/\s*\r?\n\s*/g, ' ')
    .trim();

export const rowText = (cells: readonly string[]): string => `| ${cells.map(cellText).join(' | ')} |\n`;

/** Adds a table. The first row is the header, which Markdown requires. Short rows are filled to the widest. */
export function addTable(output: Output, rows: readonly (readonly string[])[]): void {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (width === 0) return;
  rows.forEach((row, index) => {
    output.add(rowText(Array.from({ length: width }, (_, column) => row[column] ?? '')));
    if (index === 0) output.add(`|${' --- |'.repeat(width)}\n`);
  });
}

export const heading = (level: number, text: string): string =>
  `${'#'.repeat(Math.min(6, Math.max(1, level)))} ${text.replace(/\s+/g, ' ').trim()}\n\n`;

/**
 * Escapes all characters that Markdown would read as markup, also at the beginning of a line. An underscore within a
 * word is not markup and stays. So names and tokens stay whole, and a later scan for secrets finds them.
 */
export const plain = (text: string): string =>
  text
    .replace(/[\\`*[\]<]|(?<![\p{L}\p{N}_])_+|_+(?![\p{L}\p{N}_])/gu, (mark) => mark.replace(/./g, '\\$&'))
    .replace(/^(\s*)([#>+-]|\d+[.)])(?=\s)/gm, '$1\\$2');

/** Elements without readable content: they are left out with everything inside them. */
const LEFT_OUT = [
  'head',
  'title',
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'object',
  'embed',
  'svg',
  'canvas',
] as const;

/** Links that run code, embed data or name files of the reader's machine. */
const UNSAFE_LINK = /^[\s\0-\x1f]*(?:javascript|vbscript|data|blob|file):/i;

/** The most levels of nested elements: deeper markup would exhaust the stack of the converter. */
const MAX_DEPTH = 400;

/**
 * Converts a whole HTML document to Markdown, not only its main part.
 * @throws ResourceError `too-large` for a result over the byte limit; RangeError for markup that is nested too deeply
 */
export async function markdownOf(html: string, limits: Pick<ConversionLimits, 'maxOutputBytes'>): Promise<string> {
  const { default: TurndownService } = await import('turndown');
  assertShallow(html);
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.escape = plain;
  service.remove([...LEFT_OUT] as (keyof HTMLElementTagNameMap)[]);
  service.addRule('link', {
    filter: (node) => node.nodeName === 'A' && UNSAFE_LINK.test(node.getAttribute('href') ?? ''),
    replacement: (content) => content,
  });
  service.addRule('image', {
    filter: 'img',
    replacement: (_content, node) => {
      const { alt, src } = imageOf(node as Attributed);
      return src === '' || UNSAFE_LINK.test(src) ? (alt === '' ? '' : `![${alt}]`) : `![${alt}](${src})`;
    },
  });
  service.addRule('struck', { filter: ['del', 's'], replacement: (content) => `~~${content}~~` });
  service.addRule('table', {
    filter: 'table',
    replacement: (_content, node) => tableOf(node as unknown as Marked, limits),
  });
  service.addRule('cell', { filter: ['td', 'th', 'tr', 'tbody', 'thead', 'tfoot'], replacement: (content) => content });
  const output = createOutput(limits);
  output.add(service.turndown(html).trim());
  output.add('\n');
  return output.text();
}

interface Attributed {
  getAttribute(name: string): string | null;
}

interface Marked {
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly childNodes: ArrayLike<Marked>;
}

function imageOf(node: Attributed): { readonly alt: string; readonly src: string } {
  const said = (name: string): string => (node.getAttribute(name) ?? '').replace(/[\s[\]()<>]+/g, ' ').trim();
  return { alt: said('alt'), src: (node.getAttribute('src') ?? '').trim().replace(/[\s<>()]/g, encodeURIComponent) };
}

/** Returns the rows of one table as texts. A table inside a cell becomes the text of that cell. */
function tableOf(table: Marked, limits: Pick<ConversionLimits, 'maxOutputBytes'>): string {
  const rows: string[][] = [];
  const collect = (node: Marked): void => {
    for (const child of Array.from(node.childNodes)) {
      if (child.nodeName === 'TR') {
        const cells = Array.from(child.childNodes).filter(({ nodeName }) => nodeName === 'TD' || nodeName === 'TH');
        rows.push(cells.map(({ textContent }) => (textContent ?? '').replace(/\s+/g, ' ')));
      } else if (/^(?:THEAD|TBODY|TFOOT)$/.test(child.nodeName)) collect(child);
    }
  };
  collect(table);
  const output = createOutput(limits);
  addTable(output, rows);
  return `\n\n${output.text()}\n`;
}

/** Elements without an end tag. */
const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));

/** Elements whose end tag is optional. They are not counted, since without end tags they would look nested. */
const OPTIONAL_END = new Set(
  'p li dt dd tr td th thead tbody tfoot option optgroup colgroup rt rp html head body'.split(' '),
);

function assertShallow(html: string): void {
  let depth = 0;
  for (const [, end, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b/gi)) {
    const tag = name.toLowerCase();
    if (VOID.has(tag) || OPTIONAL_END.has(tag)) continue;
    depth = end === '' ? depth + 1 : Math.max(0, depth - 1);
    if (depth > MAX_DEPTH) throw tooDeep();
  }
}

const tooDeep = (): Error => new RangeError('The markup is nested too deeply');
