/** Edits the TOML of Codex: adds or removes whole lines of one entry, and keeps all other lines. */
import { type AST, getStaticTOMLValue, parseTOML } from 'toml-eslint-parser';
import type { Edit } from './entry.ts';

/** @throws SyntaxError for invalid TOML */
export const parseToml = (text: string): unknown => getStaticTOMLValue(parseTOML(text));

/** Sets the table at a path, or removes it if the value is undefined. */
export function editToml(text: string, { path, value }: Edit): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const table = value === undefined ? '' : tableOf(path, value).replaceAll('\n', eol);
  const [first, ...more] = spansOf(text, path);
  if (first === undefined) return value === undefined ? text : text + gapAfter(text, eol) + table;
  const withFirst = more.reduceRight(cut, text);
  if (value !== undefined && first.table) return withFirst.slice(0, first.from) + table + withFirst.slice(first.to);
  const without = cut(withFirst, first);
  return value === undefined ? without : without + gapAfter(without, eol) + table;
}

/** Returns the line breaks that put a blank line between a text and a table after it. */
const gapAfter = (text: string, eol: string): string => (text === '' ? '' : text.endsWith('\n') ? eol : `${eol}${eol}`);

/** A range of whole lines that belong to the entry, as offsets. */
interface Span {
  readonly from: number;
  readonly to: number;
  /** Whether the lines are a table, not single keys. */
  readonly table: boolean;
}

function spansOf(text: string, path: readonly string[]): readonly Span[] {
  const [top] = parseTOML(text).body;
  const under = (key: readonly (string | number)[]): boolean => path.every((part, index) => key[index] === part);
  const span = ({ range: [start, end] }: AST.TOMLNode, table: boolean): Span => {
    const line = text.indexOf('\n', end);
    return { from: text.lastIndexOf('\n', start - 1) + 1, to: line === -1 ? text.length : line + 1, table };
  };
  const values = (nodes: readonly AST.TOMLNode[], above: readonly (string | number)[]): readonly Span[] =>
    nodes
      .filter((node) => node.type === 'TOMLKeyValue')
      .filter(({ key }) =>
        under([...above, ...key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value))]),
      )
      .map((node) => span(node, false));
  return top.body.flatMap((node) => {
    if (node.type === 'TOMLKeyValue') return values([node], []);
    return under(node.resolvedKey) ? [span(node, true)] : values(node.body, node.resolvedKey);
  });
}

/** Cuts lines out of a text. If a blank line or the end follows them, the blank line before them is cut, too. */
function cut(text: string, { from, to }: Span): string {
  const before = text.slice(0, from);
  const after = text.slice(to);
  const spare = /^[ \t]*(?:\r?\n|$)/.test(after) ? /(?<=\n)[ \t]*\r?\n$/.exec(before)?.[0].length : undefined;
  return before.slice(0, before.length - (spare ?? 0)) + after;
}

function tableOf(path: readonly string[], value: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(value).map(([key, member]) => `${key} = ${literal(member)}\n`);
  return `[${path.join('.')}]\n${lines.join('')}`;
}

/** Writes a text or a list of texts. TOML writes both as JSON does, except that it escapes one more character. */
const literal = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(literal).join(', ')}]` : JSON.stringify(value).replaceAll('\u007f', '\\u007f');
