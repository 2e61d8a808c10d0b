/** Values as `mysql2` gives them from the binary protocol, and what becomes of them. */
import type { FieldPacket } from 'mysql2';
import type { Limits, Parameter, Value } from '../dialect.ts';

/** Types of columns by their number in the protocol. */
const TYPE = { float: 4, timestamp: 7, bigint: 8, datetime: 12, bit: 16, json: 245, geometry: 255 } as const;

/** The description of a column in a result. */
export type Field = Pick<FieldPacket, 'columnType'>;

/** MariaDB has JSON in texts, and says so beside their type. */
const isJson = (field: Field): boolean =>
  field.columnType === TYPE.json || (field as { readonly extendedFormat?: string }).extendedFormat === 'json';

/** Turns a value of one column into ours. The session's time zone is UTC. */
export function readValue(raw: unknown, field: Field, limits: Limits): Value {
  const value = convert(raw, field.columnType);
  if (typeof value === 'string' || value instanceof Uint8Array) {
    const bytes = sizeOf(value);
    if (bytes > limits.maxValueBytes)
      return { kind: 'left-out', bytes, of: typeof value === 'string' ? 'text' : 'bytes' };
    if (typeof value === 'string' && isJson(field)) return { kind: 'json', text: value };
  }
  return value;
}

function convert(
  raw: unknown,
  type: number | undefined,
): null | boolean | number | bigint | string | Uint8Array | Value {
  if (raw === null || raw === undefined) return null;
  switch (type) {
    case TYPE.bigint:
      return integer(String(raw));
    case TYPE.float:
      return shortest(Number(raw));
    case TYPE.timestamp:
      return isTime(String(raw)) ? `${String(raw).replace(' ', 'T')}Z` : String(raw);
    case TYPE.datetime:
      return isTime(String(raw)) ? String(raw).replace(' ', 'T') : String(raw);
    case TYPE.bit:
      return raw instanceof Uint8Array ? integer(`0x${Buffer.from(raw).toString('hex')}`) : Number(raw);
    case TYPE.geometry:
      return { kind: 'json', text: JSON.stringify(raw) };
  }
  if (typeof raw === 'number' || typeof raw === 'bigint' || typeof raw === 'string') return raw;
  return raw instanceof Uint8Array ? raw : { kind: 'json', text: JSON.stringify(raw) };
}

/** A date that is one: MySQL has `0000-00-00`, which stays as it is. */
const isTime = (text: string): boolean => /^\d{4}-(?!00)\d\d-(?!00)\d\d \d\d:\d\d:\d\d/.test(text);

function integer(digits: string): number | bigint {
  const value = BigInt(digits);
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

/** A number of 32 bits in as few digits as tell it apart: 1.1, not 1.100000023841858. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

/** Bytes of a value, as UTF-8. */
export function sizeOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value === 'string') return Buffer.byteLength(value);
  return value === null || value === undefined ? 0 : 8;
}

/** Integers go out as integers: a double is refused where MySQL wants to count, and is not exact. */
export const boundValue = (value: Parameter): Parameter =>
  typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
