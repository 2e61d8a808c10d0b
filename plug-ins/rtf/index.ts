/** Converts Rich Text Format to Markdown: its paragraphs, and the rows of its tables. */
import { type Convert, type ConverterPlugIn, createOutput, plain, rowText } from 'vitrine/plug-in';

const convert: Convert = async (bytes, conversion) => {
  const output = createOutput(conversion);
  let row: string[] = [];
  let text = '';
  let rows = 0;
  const paragraph = (): void => {
    if (text.trim() !== '') output.add(`${plain(text.trim())}\n\n`);
    text = '';
    rows = 0;
  };
  for (const token of tokensOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'))) {
    if (token.kind === 'text') text += token.text;
    else if (token.kind === 'paragraph') paragraph();
    else if (token.kind === 'cell') {
      row.push(text);
      text = '';
    } else {
      output.add(rowText(row));
      if (++rows === 1) output.add(`|${' --- |'.repeat(row.length)}\n`);
      row = [];
    }
  }
  paragraph();
  return output.text();
};

const plugIn: ConverterPlugIn = { rtf: convert };
export default plugIn;

type Token = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'paragraph' | 'cell' | 'row' };

/** Groups that hold no text of the document. */
const LEFT_OUT = new Set(
  'fonttbl colortbl stylesheet info pict object header footer headerl headerr headerf footerl footerr footerf listtable listoverridetable rsidtbl generator themedata colorschememapping latentstyles datastore xmlnstbl fldinst'.split(
    ' ',
  ),
);

const CHARACTERS: Readonly<Record<string, string>> = {
  tab: '\t',
  line: ' ',
  emdash: '—',
  endash: '–',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  emspace: ' ',
  enspace: ' ',
};

interface Group {
  readonly leftOut: boolean;
  /** Whether its paragraphs are in cells of a table. */
  readonly inTable: boolean;
  /** How many characters follow each Unicode character as a substitute for old readers; they are skipped. */
  readonly substitutes: number;
}

/** The most groups that may be open at once. */
const MAX_DEPTH = 10_000;

const WORDS = /[^\\{}]+/y;

const CONTROL = /([a-z]{1,32})(-?\d{1,10})? ?/iy;

/** Passes over the text once, without recursion, so that deep nesting is harmless. @throws Error for a text that is no RTF */
function* tokensOf(source: string): Iterable<Token> {
  if (!source.startsWith('{\\rtf')) throw new Error('This is no RTF');
  let group: Group = { leftOut: false, inTable: false, substitutes: 1 };
  const groups: Group[] = [];
  let decoder = new TextDecoder('windows-1252');
  let skip = 0;
  let codes: number[] = [];
  const textToken = function* (text: string): Iterable<Token> {
    if (!group.leftOut && text !== '') yield { kind: 'text', text };
  };
  const paragraphToken = function* (): Iterable<Token> {
    if (group.leftOut) return;
    // A cell is written on one line.
    yield group.inTable ? { kind: 'text', text: ' ' } : { kind: 'paragraph' };
  };
  const decoded = function* (): Iterable<Token> {
    if (codes.length === 0) return;
    const bytes = Uint8Array.from(codes);
    codes = [];
    yield* textToken(decoder.decode(bytes));
  };
  for (let at = 0; at < source.length; ) {
    const character = source[at];
    if (character === '\\' && source[at + 1] === "'") {
      const code = Number.parseInt(source.slice(at + 2, at + 4), 16);
      at += 4;
      if (skip > 0) skip--;
      else if (!Number.isNaN(code)) codes.push(code);
      continue;
    }
    yield* decoded();
    if (character === '{') {
      if (groups.push(group) > MAX_DEPTH) throw new RangeError('The groups are nested too deeply');
      skip = 0;
      at++;
    } else if (character === '}') {
      group = groups.pop() ?? group;
      skip = 0;
      at++;
    } else if (character === '\\') {
      CONTROL.lastIndex = at + 1;
      const match = CONTROL.exec(source);
      if (match === null) {
        const symbol = source[at + 1] ?? '';
        at += 2;
        if (symbol === '*') group = { ...group, leftOut: true };
        else if (symbol === '~') yield* textToken(' ');
        else if (symbol === '_') yield* textToken('-');
        else if (symbol === '\n' || symbol === '\r') yield* paragraphToken();
        else if ('\\{}'.includes(symbol)) yield* textToken(symbol);
        continue;
      }
      at = CONTROL.lastIndex;
      const [, word = '', value] = match;
      const number = value === undefined ? undefined : Number(value);
      if (word === 'bin') at += Math.max(0, number ?? 0);
      else if (word === 'u' && number !== undefined) {
        yield* textToken(String.fromCharCode(number & 0xffff));
        skip = group.substitutes;
      } else if (word === 'uc') group = { ...group, substitutes: Math.min(16, Math.max(0, number ?? 1)) };
      else if (word === 'ansicpg') decoder = decoderOf(number);
      else if (LEFT_OUT.has(word)) group = { ...group, leftOut: true };
      else if (group.leftOut) continue;
      else if (word === 'par' || word === 'sect' || word === 'page') yield* paragraphToken();
      else if (word === 'pard') group = { ...group, inTable: false };
      else if (word === 'intbl') group = { ...group, inTable: true };
      else if (word === 'cell' || word === 'nestcell') yield { kind: 'cell' };
      else if (word === 'row' || word === 'nestrow') yield { kind: 'row' };
      else if (Object.hasOwn(CHARACTERS, word)) yield* textToken(CHARACTERS[word] ?? '');
    } else {
      WORDS.lastIndex = at;
      const [run = ''] = WORDS.exec(source) ?? [];
      at += run.length;
      const text = run.replace(/[\r\n]/g, '');
      const skipped = Math.min(skip, text.length);
      skip -= skipped;
      yield* textToken(decoder.decode(Buffer.from(text.slice(skipped), 'latin1')));
    }
  }
  yield* decoded();
}

function decoderOf(codepage: number | undefined): TextDecoder {
  const label =
    codepage === 65001
      ? 'utf-8'
      : codepage === 932
        ? 'shift_jis'
        : codepage === 936
          ? 'gbk'
          : codepage === 949
            ? 'euc-kr'
            : codepage === 950
              ? 'big5'
              : `windows-${codepage}`;
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder('windows-1252');
  }
}
