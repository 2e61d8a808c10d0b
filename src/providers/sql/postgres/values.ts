/**
 * Converts the texts that PostgreSQL writes for values. The session writes dates in ISO 8601, times with a zone in UTC, bytes
 * in hex, and floating point in as few digits as tell the number apart.
 */
import type { JsonText, LeftOut, Value } from '../dialect.ts';
import { arrayJson } from './arrays.ts';

/** Turns the text of a value into the value. */
export type Convert = (text: string) => Exclude<Value, LeftOut | null>;

/** A type as `pg_type` describes it. */
export interface PostgresType {
  /** The number of the type of the elements, if this is an array; otherwise 0. */
  readonly element: number;
  readonly delimiter: string;
  /** The number of the type that a domain is based on; otherwise 0. */
  readonly base: number;
}

const BOOLEAN = 16;
const BYTEA = 17;
const BIGINT = 20;
const JSON_TYPES = [114, 3802] as const;

const text: Convert = (value) => value;
const json = (value: string): JsonText => ({ kind: 'json', text: value });
const integer: Convert = (value) => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
};
/** Turns `2024-01-01 12:00:00+00` into `2024-01-01T12:00:00Z`. Infinity and times before our era stay as they are. */
const time: Convert = (value) =>
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?(?:\+00)?$/.test(value)
    ? value.replace(' ', 'T').replace('+00', 'Z')
    : value;

/** The conversions of built-in types, whose numbers are fixed. Other types are looked up. */
const CONVERTS: ReadonlyMap<number, Convert> = new Map<number, Convert>([
  [BOOLEAN, (value) => value === 't'],
  [BYTEA, (value) => Buffer.from(value.slice(2), 'hex')],
  [BIGINT, integer],
  ...[21, 23, 26].map((oid) => [oid, Number] as const),
  ...[700, 701].map((oid) => [oid, Number] as const),
  ...JSON_TYPES.map((oid) => [oid, json] as const),
  [1114, time],
  [1184, time],
  // Types whose text stays as it is: text, varchar, char(n), name, uuid, numeric, date, time, interval, inet and others.
  ...[25, 1043, 1042, 19, 2950, 1700, 1082, 1083, 1266, 1186, 18, 869, 650, 829, 142, 1560, 1562].map(
    (oid) => [oid, text] as const,
  ),
]);

/** Whether values of this type can be converted without looking the type up. */
export const isKnownType = (oid: number): boolean => CONVERTS.has(oid);

/**
 * Returns the conversion of a type.
 * @param typeOf returns a type that was looked up, by its number
 */
export function convertOf(oid: number, typeOf: (oid: number) => PostgresType | undefined): Convert {
  const builtIn = CONVERTS.get(oid);
  if (builtIn !== undefined) return builtIn;
  const type = typeOf(oid);
  if (type === undefined || type.element === 0) return text;
  const base = typeOf(type.element)?.base ?? 0;
  const element = elementJson(base === 0 ? type.element : base);
  return (value) => json(arrayJson(value, type.delimiter, element));
}

/** Returns a function that writes an element of an array as JSON. */
function elementJson(oid: number): (value: string) => string {
  if (JSON_TYPES.some((jsonType) => jsonType === oid)) return text as (value: string) => string;
  const convert = CONVERTS.get(oid) ?? text;
  return (value) => {
    if (oid === BYTEA) return JSON.stringify(value);
    const converted = convert(value);
    // JSON has no NaN and no infinity, so they become strings. A bigint stays as its digits.
    if (typeof converted === 'number') return Number.isFinite(converted) ? String(converted) : JSON.stringify(value);
    return typeof converted === 'bigint' ? value : JSON.stringify(converted);
  };
}

/** Counts the bytes of a value without converting it. */
export const sizeOf = (oid: number, value: string): number =>
  oid === BYTEA ? (value.length - 2) / 2 : Buffer.byteLength(value);

export const isBytes = (oid: number): boolean => oid === BYTEA;
