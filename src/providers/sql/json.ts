/**
 * Values and rows as JSON. It is written by hand where columns are named: an object would reorder names that look like
 * numbers, and take `__proto__` for something else.
 */
import type { Value } from './dialect.ts';

/** Bytes of a value that stands in a row in base64; larger ones are read by their own URI. */
export const MAX_INLINE_BYTES = 1_024;

/** JSON of something that is no row. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** An object of texts that are JSON already, in this order. */
export function jsonObject(entries: readonly (readonly [string, string])[], indent: string): string {
  if (entries.length === 0) return '{}';
  const inner = `${indent}  `;
  return `{\n${entries.map(([name, json]) => `${inner}${JSON.stringify(name)}: ${json}`).join(',\n')}\n${indent}}`;
}

/** Names that no two columns have: a second `id` is `id:2`. */
export function uniqueNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  const last = new Map<string, number>();
  return names.map((name) => {
    let unique = name;
    let number = last.get(name) ?? 1;
    while (taken.has(unique)) unique = `${name}:${++number}`;
    last.set(name, number);
    taken.add(unique);
    return unique;
  });
}

/**
 * Integers that a double does not hold are strings, and so are infinite numbers; bytes are `{bytes, base64}`, and what was
 * left out `{bytes, uri}`.
 * @param uri where the value is read by itself
 */
export function jsonValue(value: Value, uri: string | undefined): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') {
    const safe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
    return safe ? String(value) : `"${value}"`;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`;
  if (value instanceof Uint8Array) {
    const bytes = value.byteLength;
    if (bytes > MAX_INLINE_BYTES && uri !== undefined) return JSON.stringify({ bytes, uri });
    return JSON.stringify({ bytes, base64: Buffer.from(value).toString('base64') });
  }
  if (value.kind === 'json') return value.text;
  return JSON.stringify({ bytes: value.bytes, ...(uri !== undefined && { uri }) });
}
