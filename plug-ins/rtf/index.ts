/** Rich Text Format: its text, paragraph by paragraph, with the rows of its tables. */
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

/** Groups that are no text of the document. */
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
  /** Characters that stand in for one in Unicode, for readers that know none. */
  readonly stand: number;
}

const MAX_DEPTH = 10_000;

const WORDS = /[^\\{}]+/y;

const CONTROL = /([a-z]{1,32})(-?\d{1,10})? ?/iy;

/** One pass over the text; nothing is called again for what lies within. */
function* tokensOf(source: string): Iterable<Token> {
  if (!source.startsWith('{\\rtf')) throw new Error('This is no RTF');
  let group: Group = { leftOut: false, stand: 1 };
  const groups: Group[] = [];
  let decoder = new TextDecoder('windows-1252');
  let skip = 0;
  let coded: number[] = [];
  const said = function* (text: string): Iterable<Token> {
    if (!group.leftOut && text !== '') yield { kind: 'text', text };
  };
  const decoded = function* (): Iterable<Token> {
    if (coded.length === 0) return;
    const bytes = Uint8Array.from(coded);
    coded = [];
    yield* said(decoder.decode(bytes));
  };
  for (let at = 0; at < source.length; ) {
    const character = source[at];
    if (character === '\\' && source[at + 1] === "'") {
      const code = Number.parseInt(source.slice(at + 2, at + 4), 16);
      at += 4;
      if (skip > 0) skip--;
      else if (!Number.isNaN(code)) coded.push(code);
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
        else if (symbol === '~') yield* said(' ');
        else if (symbol === '_') yield* said('-');
        else if (symbol === '\n' || symbol === '\r') yield { kind: 'paragraph' };
        else if ('\\{}'.includes(symbol)) yield* said(symbol);
        continue;
      }
      at = CONTROL.lastIndex;
      const [, word = '', value] = match;
      const number = value === undefined ? undefined : Number(value);
      if (word === 'bin') at += Math.max(0, number ?? 0);
      else if (word === 'u' && number !== undefined) {
        yield* said(String.fromCharCode(number & 0xffff));
        skip = group.stand;
      } else if (word === 'uc') group = { ...group, stand: Math.min(16, Math.max(0, number ?? 1)) };
      else if (word === 'ansicpg') decoder = decoderOf(number);
      else if (LEFT_OUT.has(word)) group = { ...group, leftOut: true };
      else if (group.leftOut) continue;
      else if (word === 'par' || word === 'sect' || word === 'page') yield { kind: 'paragraph' };
      else if (word === 'cell' || word === 'nestcell') yield { kind: 'cell' };
      else if (word === 'row' || word === 'nestrow') yield { kind: 'row' };
      else if (Object.hasOwn(CHARACTERS, word)) yield* said(CHARACTERS[word] ?? '');
    } else {
      WORDS.lastIndex = at;
      const [run = ''] = WORDS.exec(source) ?? [];
      at += run.length;
      const text = run.replace(/[\r\n]/g, '');
      const left = Math.min(skip, text.length);
      skip -= left;
      yield* said(decoder.decode(Buffer.from(text.slice(left), 'latin1')));
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
