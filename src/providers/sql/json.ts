/**
 * Writes values and rows as JSON. Objects with column names are written by hand: a JavaScript object would reorder
 * names that look like numbers, and treats `__proto__` specially.
 */
import type { Value } from './dialect.ts';

/** The most bytes of a value that a row contains in base64. A larger one is replaced by its URI, if it has one. */
export const MAX_INLINE_BYTES = 1_024;

/** Writes any value other than a row as JSON. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Writes an object of JSON texts, in this order. */
export function jsonObject(entries: readonly (readonly [string, string])[], indent: string): string {
  if (entries.length === 0) return '{}';
  const inner = `${indent}  `;
  return `{\n${entries.map(([name, json]) => `${inner}${JSON.stringify(name)}: ${json}`).join(',\n')}\n${indent}}`;
}

/** Makes names unique: a second `id` becomes `id:2`. */
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
 * Writes a value. Integers beyond the precision of a double, and infinite numbers, are strings; bytes are `{bytes,
 * base64}`, and omitted values `{bytes, uri}`.
 * @param uri the URI of the value itself
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
