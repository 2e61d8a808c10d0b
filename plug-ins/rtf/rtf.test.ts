import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import rtf from './index.ts';

const LIMITS = { maxOutputBytes: 1_000_000, maxUnpackedBytes: 10_000_000 };
const markdownOf = (source: string) =>
  rtf.rtf?.(Buffer.from(source, 'latin1'), { from: 'application/rtf', to: 'text/markdown', ...LIMITS });

const CARD = new URL('../../examples/museum/office/condition-card.rtf', import.meta.url);

it('reads letters of its code page and of Unicode, and tables [2093-6]', async () => {
  const limits = { maxOutputBytes: 1_000_000, maxUnpackedBytes: 10_000_000 };
  const types = { from: 'application/rtf', to: 'text/markdown' };
  expect(await rtf.rtf?.(await readFile(CARD), { ...types, ...limits })).toBe(
    'Condition card\n\nMusic box by J. Müller, 1790, of brass and walnut.\n\nThe comb is complete; the case smells of cedar – as it should.\n\n| Part | State |\n| --- | --- |\n| Comb | good |\n',
  );
});

it.each(['\n', '\r', '\r\n'])(
  'a line break %j after a backslash begins a paragraph, and adds nothing else',
  async (end) => {
    expect(await markdownOf(`{\\rtf1 One\\${end}two {\\info a\\${end}b}{\\*\\x c\\${end}}three}`)).toBe(
      'One\n\ntwo three\n\n',
    );
  },
);

it.each([
  ['\\par', '\\par '],
  ['a line break after a backslash', '\\\n'],
])('%s inside a cell keeps the text in its cell', async (_, end) => {
  const row = (first: string, second: string): string =>
    `\\trowd\\cellx100\\cellx200\\pard\\intbl ${first}\\cell ${second}\\cell\\row`;
  const table = '| a b | c d |\n| --- | --- |\n| e | f |\n';
  const rows = `${row(`a${end}b`, `c${end}d`)}${row('e', `f${end}`)}`;
  expect(await markdownOf(`{\\rtf1 Before\\par ${rows}}`)).toBe(`Before\n\n${table}`);
  expect(await markdownOf(`{\\rtf1 {\\intbl x\\cell}\\pard One\\par two}`)).toBe('One\n\ntwo\n\n');
});
