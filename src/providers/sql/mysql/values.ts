/** Converts the values that `mysql2` reads from the binary protocol. */
import type { FieldPacket } from 'mysql2';
import type { Limits, Parameter, Value } from '../dialect.ts';

/** Types of columns by their number in the protocol. */
const TYPE = { float: 4, timestamp: 7, bigint: 8, datetime: 12, bit: 16, json: 245, geometry: 255 } as const;

/** The description of a column in a result. */
export type Field = Pick<FieldPacket, 'columnType'>;

/** MariaDB has JSON in columns of text, and marks them in their extended format. */
const isJson = (field: Field): boolean =>
  field.columnType === TYPE.json || (field as { readonly extendedFormat?: string }).extendedFormat === 'json';

/** Converts a value of one column; one over `maxValueBytes` is left out. The session's time zone is UTC. */
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

/** Whether the text is a real date and time. MySQL also has `0000-00-00`, which stays as it is. */
const isTime = (text: string): boolean => /^\d{4}-(?!00)\d\d-(?!00)\d\d \d\d:\d\d:\d\d/.test(text);

function integer(digits: string): number | bigint {
  const value = BigInt(digits);
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

/** Rounds a number of 32 bits to as few digits as tell it apart from others: 1.1, not 1.100000023841858. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

/** Counts the bytes of a value: a text as UTF-8, a number or object as 8. */
export function sizeOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value === 'string') return Buffer.byteLength(value);
  return value === null || value === undefined ? 0 : 8;
}

/** Binds a safe integer as an integer. A double is not exact, and MySQL refuses it as a count, such as that of a LIMIT. */
export const boundValue = (value: Parameter): Parameter =>
  typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
