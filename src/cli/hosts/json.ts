/** Edits JSON with comments: changes one entry, and keeps all other text except a comma or white space beside the entry. */
import jsonc from 'jsonc-parser';
import type { Edit } from './entry.ts';

const OPTIONS = { allowTrailingComma: true };

/** Parses JSON, which may have comments and trailing commas. @throws SyntaxError for any other text */
export function parseJson(text: string): unknown {
  const errors: jsonc.ParseError[] = [];
  const content: unknown = jsonc.parse(text, errors, OPTIONS);
  const [first] = errors;
  if (first !== undefined) {
    const line = text.slice(0, first.offset).split('\n').length;
    throw new SyntaxError(`${jsonc.printParseErrorCode(first.error)} in line ${line}`);
  }
  return content;
}

/** Sets the value at a path, or removes it if the value is undefined. Returns the text itself if there is nothing to remove. */
export function editJson(text: string, { path, value }: Edit): string {
  const style = styleOf(text);
  const root = jsonc.parseTree(text, [], OPTIONS);
  if (root === undefined) return value === undefined ? text : `${written(nested(path, value), '', style)}${style.eol}`;
  let at = root;
  for (const [depth, key] of path.entries()) {
    const property = at.children?.find(({ children }) => children?.[0]?.value === key);
    const found = property?.children?.[1];
    if (property === undefined || found === undefined)
      return value === undefined ? text : inserted(text, at, key, nested(path.slice(depth + 1), value), style);
    if (depth < path.length - 1) at = found;
    else if (value === undefined) return removed(text, at, property);
    else return spliced(text, found, written(value, indentAt(text, property.offset), styleIn(text, found, style)));
  }
  return text;
}

interface Style {
  readonly eol: string;
  /** The indentation of one level; undefined if everything stands on one line. */
  readonly unit: string | undefined;
}

/** Finds the line ending of a text, and the indentation of its first indented line. */
function styleOf(text: string): Style {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  if (text.trim() !== '' && !text.trim().includes('\n')) return { eol, unit: undefined };
  return { eol, unit: /^([ \t]+)["}]/m.exec(text)?.[1] ?? '  ' };
}

const styleIn = (text: string, { offset, length }: jsonc.Node, style: Style): Style =>
  text.slice(offset, offset + length).includes('\n') ? style : { ...style, unit: undefined };

function written(value: unknown, indent: string, { unit, eol }: Style): string {
  const json = JSON.stringify(value, undefined, unit);
  return json.replaceAll('\n', `${eol}${indent}`);
}

const nested = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight((inner: unknown, key) => ({ [key]: inner }), value);

const spliced = (text: string, { offset, length }: Pick<jsonc.Node, 'offset' | 'length'>, part: string): string =>
  text.slice(0, offset) + part + text.slice(offset + length);

/** Returns the white space that the line of this place begins with. */
const indentAt = (text: string, offset: number): string => {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
};

function inserted(text: string, object: jsonc.Node, key: string, value: unknown, style: Style): string {
  const last = object.children?.at(-1);
  const close = object.offset + object.length - 1;
  const whole = text.slice(object.offset, close);
  const many = style.unit !== undefined && (last === undefined || whole.includes('\n'));
  if (last === undefined) {
    const outer = indentAt(text, object.offset);
    const indent = `${outer}${style.unit ?? ''}`;
    const property = `${JSON.stringify(key)}: ${written(value, indent, style)}`;
    const kept = whole.slice(1).trimEnd();
    return spliced(
      text,
      { offset: object.offset + 1, length: whole.length - 1 },
      many ? `${kept}${style.eol}${indent}${property}${style.eol}${outer}` : `${kept}${property}`,
    );
  }
  const end = last.offset + last.length;
  const { comma, behind } = after(text, end);
  const indent = indentAt(text, last.offset);
  const inside = many ? style : { ...style, unit: undefined };
  const property = `${JSON.stringify(key)}: ${written(value, indent, inside)}`;
  const addition = `${many ? `${style.eol}${indent}` : ' '}${property}${comma === undefined ? '' : ','}`;
  const begin = comma === undefined ? `${text.slice(0, end)},${text.slice(end, behind)}` : text.slice(0, behind);
  return begin + addition + text.slice(behind);
}

function removed(text: string, object: jsonc.Node, property: jsonc.Node): string {
  const all = object.children ?? [];
  const last = all.at(-1) === property;
  const before = all[all.indexOf(property) - 1];
  const end = property.offset + property.length;
  const { comma } = after(text, end);
  const ended = comma === undefined ? end : comma + 1;
  // The property before becomes the last one: it loses its comma if the removed one had none.
  const losesComma = last && comma === undefined;
  const spare = losesComma && before !== undefined ? after(text, before.offset + before.length).comma : undefined;
  const lineStart = text.lastIndexOf('\n', property.offset - 1) + 1;
  const white = /^[ \t]*(?:\r?\n)?/.exec(text.slice(ended))?.[0] ?? '';
  const line = text.slice(lineStart, property.offset).trim() === '' && white.endsWith('\n');
  const kept = text.slice(0, line ? lineStart : property.offset);
  const begin = spare === undefined ? kept : kept.slice(0, spare) + kept.slice(spare + 1);
  const rest = text.slice(line || !last ? ended + white.length : ended);
  if (all.length === 1 && begin.slice(object.offset).trim() === '{' && rest.trimStart().startsWith('}'))
    return begin.trimEnd() + rest.trimStart();
  return (last && !line ? begin.replace(/[ \t]+$/, '') : begin) + rest;
}

/** Finds the comma after a value, and the end of the comma or comment that follows the value in its line. */
function after(text: string, end: number): { readonly comma: number | undefined; readonly behind: number } {
  const scanner = jsonc.createScanner(text);
  scanner.setPosition(end);
  let comma: number | undefined;
  let behind = end;
  let sameLine = true;
  for (;;) {
    const token: number = scanner.scan();
    const next = scanner.getTokenOffset() + scanner.getTokenLength();
    if (token === LINE_BREAK) sameLine = false;
    else if (token === COMMA && comma === undefined) {
      comma = scanner.getTokenOffset();
      behind = next;
      sameLine = true;
    } else if (token === LINE_COMMENT || token === BLOCK_COMMENT) {
      if (sameLine) behind = next;
    } else if (token !== TRIVIA) return { comma, behind };
  }
}

// The library's `SyntaxKind` is a `const enum`: it exists only as a type, so its numbers are repeated here.
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const TRIVIA = 15;
