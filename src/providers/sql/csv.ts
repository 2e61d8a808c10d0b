/** Writes rows as CSV (RFC 4180): bytes are base64, an empty text is `""`, and NULL or a value that was left out is empty. */
import type { Value } from './dialect.ts';

export const csvLine = (values: readonly Value[]): string => `${values.map(csvValue).join(',')}\r\n`;

function csvValue(value: Value): string {
  if (value === null) return '';
  if (typeof value !== 'object') return quoted(String(value));
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return value.kind === 'json' ? quoted(value.text) : '';
}

const quoted = (text: string): string =>
  text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
