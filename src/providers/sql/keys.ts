/**
 * Writes names of tables and values of keys as path segments, and reads them back: `17`, `de`, `2024-01-01,eu`. Each value
 * is written in exactly one way.
 *
 * - A value of the column's own kind is written as it is. A value of another kind, which SQLite allows, begins with a tag:
 *   `~i:` an integer, `~r:` a real, `~t:` a text, `~b:` bytes in hex, `~n` NULL. An empty text is `~t:` in any column.
 * - A character that cannot stand in a segment (a slash, a control character, a lone dot), and `~` itself, is written as `~`
 *   and two hex digits for each byte of its UTF-8: `AC~2FDC`. In a key of several columns, which a comma separates, so is a
 *   comma in a value.
 * - A key that contains NULL ends with the row id, which tells such rows apart.
 */
import type { Identity, Parameter, ValueKind } from './dialect.ts';

/** The most characters of a key in a URI. A row with a longer key appears in pages, and has no URI of its own. */
export const MAX_KEY_LENGTH = 4_096;

/** The values of the columns of an identity; if one of them is NULL, also the value of its tie break. */
export interface Key {
  readonly values: readonly Parameter[];
  readonly tieBreak?: bigint | undefined;
}

/** Control characters, separators of segments, the start of an escape, and the character that replaces broken text. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f/\\~\ufffd]/g;
const UNSAFE_OR_COMMA = /[\u0000-\u001f\u007f-\u009f/\\~\ufffd,]/g;
const DOTS = /^\.{1,2}$/;

const hexBytes = (text: string): string =>
  [...Buffer.from(text, 'utf8')].map((byte) => `~${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** Writes a name as a segment, before percent-encoding. Reserved words begin with a bare `~`, which no result does. */
export const encodeName = (name: string, several = false): string => {
  const escaped = name.replace(several ? UNSAFE_OR_COMMA : UNSAFE, hexBytes);
  return DOTS.test(escaped) ? hexBytes(escaped) : escaped;
};

/** Returns the name that a segment stands for; undefined if `encodeName` writes no name like that. */
export function decodeName(segment: string, several = false): string | undefined {
  const name = unescaped(segment);
  return name !== undefined && name !== '' && encodeName(name, several) === segment ? name : undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the text that a segment, or a part of one, stands for; undefined if an escape in it is not valid. */
export function unescaped(segment: string): string | undefined {
  if (/~(?![0-9A-F]{2})/.test(segment)) return undefined;
  try {
    return segment.replace(/(?:~[0-9A-F]{2})+/g, (escapes) =>
      utf8.decode(Buffer.from(escapes.replaceAll('~', ''), 'hex')),
    );
  } catch {
    return undefined;
  }
}

/** The segment of a row, before percent-encoding; undefined where it would be too long. */
export function encodeKey({ values, tieBreak }: Key, { columns }: Identity, most = MAX_KEY_LENGTH): string | undefined {
  const several = columns.length > 1;
  const texts = values.map((value, index) => encodeValue(value, columns[index]?.kind ?? 'any', several));
  const segment = [...texts, ...(tieBreak !== undefined && values.includes(null) ? [String(tieBreak)] : [])].join(',');
  return segment.length > most ? undefined : segment;
}

/** Returns the key that a segment stands for; undefined if no key of this table has that segment. */
export function decodeKey(segment: string, identity: Identity, most = MAX_KEY_LENGTH): Key | undefined {
  const { columns, tieBreak } = identity;
  if (segment.length > most) return undefined;
  const split = columns.length > 1 || segment.startsWith(`${NULL},`);
  const parts = split ? segment.split(',') : [segment];
  const values: Parameter[] = [];
  for (const [index, { kind }] of columns.entries()) {
    const value = decodeValue(parts[index] ?? '', kind);
    if (value === undefined) return undefined;
    values.push(value);
  }
  const last = parts[columns.length];
  const hasNull = values.includes(null);
  // A key has a tie break exactly if it contains NULL.
  if (hasNull !== (last !== undefined) || (hasNull && tieBreak === undefined)) return undefined;
  if (last !== undefined && !INTEGER.test(last)) return undefined;
  const key: Key = { values, ...(last !== undefined && { tieBreak: BigInt(last) }) };
  return encodeKey(key, identity, most) === segment ? key : undefined;
}

const NULL = '~n';
const INTEGER = /^-?\d{1,20}$/;

/** Writes one value. @param several the key has other values, from which a comma separates it */
export function encodeValue(value: Parameter, kind: ValueKind, several: boolean): string {
  if (value === null) return NULL;
  if (typeof value === 'bigint') return kind === 'integer' ? String(value) : `~i:${value}`;
  if (typeof value === 'number') {
    if (kind === 'integer' && Number.isSafeInteger(value)) return String(value);
    return kind === 'real' && Number.isFinite(value) ? String(value) : `~r:${value}`;
  }
  if (value instanceof Uint8Array) return `~b:${Buffer.from(value).toString('hex')}`;
  const text = encodeName(String(value), several);
  return text !== '' && kind !== 'integer' && kind !== 'real' ? text : `~t:${text}`;
}

/** Reads one value; undefined if the text is none. Also accepts spellings that `encodeValue` does not write, such as `007`. */
export function decodeValue(text: string, kind: ValueKind): Parameter | undefined {
  if (text === NULL) return null;
  const tagged = /^~([irtb]):(.*)$/s.exec(text);
  const [, tag = { integer: 'i', real: 'r', text: 't', bytes: 't', any: 't' }[kind], body = text] = tagged ?? [];
  switch (tag) {
    case 'i':
      return INTEGER.test(body) ? BigInt(body) : undefined;
    case 'r':
      return body === '' ? undefined : numberOf(body);
    case 'b':
      return /^(?:[0-9a-f]{2})*$/.test(body) ? new Uint8Array(Buffer.from(body, 'hex')) : undefined;
    default:
      return unescaped(body);
  }
}

function numberOf(text: string): number | undefined {
  const number = Number(text);
  return Number.isNaN(number) ? undefined : number;
}
