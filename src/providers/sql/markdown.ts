/** Writes rows as Markdown. The content of a cell is text, and cannot become markup. */
import type { Value } from './dialect.ts';

/** The most characters of a value in a table. A longer one is cut; its row has the whole value. */
export const MAX_CELL_CHARACTERS = 300;

/** Escapes a text for one line, so that Markdown and HTML do not interpret it. */
export const escaped = (text: string): string =>
  text
    .replace(/[\\`*[\]<>|~&#]/g, '\\$&')
    .replace(/\r\n|[\r\n\u2028\u2029]/g, '<br>')
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');

export const link = (text: string, uri: string): string =>
  `[${text}](${uri.replace(/[()\\]/g, encodeURIComponentFully)})`;

const encodeURIComponentFully = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

/** Writes a value for one cell. @param uri the resource of the value, or of the row that it refers to */
export function markdownValue(value: Value, uri: string | undefined, most = MAX_CELL_CHARACTERS): string {
  const text = textOf(value, most);
  return uri === undefined || text === '' ? text : link(text, uri);
}

function textOf(value: Value, most: number): string {
  if (value === null) return '';
  if (value instanceof Uint8Array) return `${value.byteLength} bytes`;
  if (typeof value !== 'object') return cut(String(value), most);
  return value.kind === 'json' ? cut(value.text, most) : `${value.bytes} bytes`;
}

function cut(text: string, most: number): string {
  if (text.length <= most) return escaped(text);
  return `${escaped(text.slice(0, most).toWellFormed())}…`;
}

export const tableHead = (names: readonly string[]): string =>
  `| ${names.map(escaped).join(' | ')} |\n|${' --- |'.repeat(names.length)}\n`;

export const tableLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
