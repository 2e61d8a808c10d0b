/** Edits of TOML, as Codex has it: whole lines go and come, and all others stay as they are. */
import { type AST, getStaticTOMLValue, parseTOML } from 'toml-eslint-parser';
import type { Edit } from './entry.ts';

/** @throws SyntaxError for what is no TOML */
export const parseToml = (text: string): unknown => getStaticTOMLValue(parseTOML(text));

export function editToml(text: string, { path, value }: Edit): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const table = value === undefined ? '' : tableOf(path, value).replaceAll('\n', eol);
  const [first, ...more] = spansOf(text, path);
  if (first === undefined) return value === undefined ? text : text + gapAfter(text, eol) + table;
  const without = more.reduceRight(cut, text);
  if (value !== undefined && first.table) return without.slice(0, first.from) + table + without.slice(first.to);
  const left = cut(without, first);
  return value === undefined ? left : left + gapAfter(left, eol) + table;
}

/** So that a blank line is before what follows. */
const gapAfter = (text: string, eol: string): string => (text === '' ? '' : text.endsWith('\n') ? eol : `${eol}${eol}`);

/** Lines of the entry. */
interface Span {
  readonly from: number;
  readonly to: number;
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

/** Without these lines, and without the blank line before them that nothing needs any more. */
function cut(text: string, { from, to }: Span): string {
  const before = text.slice(0, from);
  const after = text.slice(to);
  const spare = /^[ \t]*(?:\r?\n|$)/.test(after) ? /(?<=\n)[ \t]*\r?\n$/.exec(before)?.[0].length : undefined;
  return before.slice(0, before.length - (spare ?? 0)) + after;
}

function tableOf(path: readonly string[], value: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(value).map(([key, each]) => `${key} = ${literal(each)}\n`);
  return `[${path.join('.')}]\n${lines.join('')}`;
}

/** Texts and lists of texts are written as in JSON, but for one character. */
const literal = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(literal).join(', ')}]` : JSON.stringify(value).replaceAll('\u007f', '\\u007f');
