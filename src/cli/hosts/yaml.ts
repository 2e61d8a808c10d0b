/** Edits YAML in Goose's format: adds or removes an entry of a block, and keeps all other lines. */
import { isMap, isScalar, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml';
import type { Edit } from './entry.ts';

/** @throws Error for invalid YAML */
export function parseYaml(text: string): unknown {
  const document = parseDocument(text, { prettyErrors: true, logLevel: 'error' });
  const [broken] = document.errors;
  if (broken !== undefined) throw broken;
  return document.toJS({ maxAliasCount: 100 });
}

/** @param edit its path has two names: the block, and the entry in it */
export function editYaml(text: string, { path: [section = '', name = ''], value }: Edit): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const { contents } = parseDocument(text);
  const block = isMap(contents) ? pairOf(contents, section) : undefined;
  const lines = (indent: string, entry: unknown): string =>
    stringify(entry, { lineWidth: 0 })
      .replace(/^(?=.)/gm, indent)
      .replaceAll('\n', eol);
  if (block === undefined) {
    if (value === undefined) return text;
    return `${text}${text === '' || text.endsWith('\n') ? '' : eol}${lines('', { [section]: { [name]: value } })}`;
  }
  const map = isMap(block.value) && block.value.items.length > 0 ? block.value : undefined;
  const entry = map && pairOf(map, name);
  if (entry !== undefined && map !== undefined) {
    const from = lineStart(text, startOf(entry.key));
    const to = endOf(text, entry);
    if (value !== undefined)
      return text.slice(0, from) + lines(indentOf(text, map), { [name]: value }) + text.slice(to);
    if (map.items.length > 1) return text.slice(0, from) + text.slice(to);
    const key = lineStart(text, startOf(block.key));
    return `${text.slice(0, key)}${section}: {}${eol}${text.slice(to)}`;
  }
  if (value === undefined) return text;
  if (map !== undefined) {
    const at = endOf(text, map.items.at(-1));
    const gap = at > 0 && text[at - 1] !== '\n' ? eol : '';
    return text.slice(0, at) + gap + lines(indentOf(text, map), { [name]: value }) + text.slice(at);
  }
  const [from, to] = [lineStart(text, startOf(block.key)), endOf(text, block)];
  return text.slice(0, from) + lines('', { [section]: { [name]: value } }) + text.slice(to);
}

const pairOf = (map: YAMLMap, name: string): Pair | undefined =>
  map.items.find(({ key }) => isScalar(key) && key.value === name);

const startOf = (node: unknown): number => (isScalar(node) || isMap(node) ? (node.range?.[0] ?? 0) : 0);

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

const indentOf = (text: string, map: YAMLMap): string => {
  const start = startOf(map.items[0]?.key);
  return text.slice(lineStart(text, start), start);
};

/** Returns the end of the pair's last line; comments on their own lines below do not belong to it. */
function endOf(text: string, pair: Pair | undefined): number {
  const last = pair?.value ?? pair?.key;
  const range = (last as { range?: readonly number[] | null } | null | undefined)?.range;
  const end = range?.[1] ?? startOf(pair?.key);
  if (end > 0 && text[end - 1] === '\n') return end;
  const line = text.indexOf('\n', end);
  return line === -1 ? text.length : line + 1;
}
