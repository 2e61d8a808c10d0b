/** Edits of JSON with comments, as editors write it: all that is not of the entry stays as it is, byte for byte. */
import jsonc from 'jsonc-parser';
import type { Edit } from './entry.ts';

const OPTIONS = { allowTrailingComma: true };

/** @throws SyntaxError for what is no JSON, comments and trailing commas aside */
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
  /** Of one level; undefined for all on one line. */
  readonly unit: string | undefined;
}

/** As the first line that is indented has it. */
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

const spliced = (text: string, { offset, length }: Pick<jsonc.Node, 'offset' | 'length'>, put: string): string =>
  text.slice(0, offset) + put + text.slice(offset + length);

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
  const put = `${many ? `${style.eol}${indent}` : ' '}${property}${comma === undefined ? '' : ','}`;
  const begin = comma === undefined ? `${text.slice(0, end)},${text.slice(end, behind)}` : text.slice(0, behind);
  return begin + put + text.slice(behind);
}

function removed(text: string, object: jsonc.Node, property: jsonc.Node): string {
  const all = object.children ?? [];
  const last = all.at(-1) === property;
  const before = all[all.indexOf(property) - 1];
  const end = property.offset + property.length;
  const { comma } = after(text, end);
  const ended = comma === undefined ? end : comma + 1;
  // The property before becomes the last: it loses its comma where the removed one had none.
  const alone = last && comma === undefined;
  const spare = alone && before !== undefined ? after(text, before.offset + before.length).comma : undefined;
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

/** Finds the comma behind a value, and the end of the last thing in its line that belongs to it: a comma, a comment. */
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

// `SyntaxKind` is a `const enum`, which types alone have.
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const TRIVIA = 15;
