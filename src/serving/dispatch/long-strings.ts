/** Replaces the long strings of a result, such as that of a tool, by texts that are sent in pieces. */

import { LONG_BYTES, longString } from '../../core/text/long-text.ts';
import { isData } from '../../protocol/data.ts';

/** How many levels of a result are searched for long strings; deeper ones are sent as they are. */
const MAX_LEVELS = 16;

/** The same result if it has no long string; otherwise a copy with a `LongText` for each. The JSON of both is the same. */
export const inPieces = (result: object): object => (hasLong(result, 0) ? (pieced(result, 0) as object) : result);

function hasLong(value: unknown, level: number): boolean {
  if (typeof value === 'string') return value.length > LONG_BYTES;
  if (typeof value !== 'object' || value === null || level > MAX_LEVELS) return false;
  if (Array.isArray(value)) return value.some((each) => hasLong(each, level + 1));
  if (!isPlain(value)) return false;
  for (const key in value) if (hasLong((value as Record<string, unknown>)[key], level + 1)) return true;
  return false;
}

function pieced(value: unknown, level: number): unknown {
  if (!hasLong(value, level)) return value;
  if (typeof value === 'string') return longString(value);
  if (Array.isArray(value)) return value.map((each) => pieced(each, level + 1));
  if (!isData(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, pieced(each, level + 1)]));
}

/** Whether an object is a plain one. Other objects, and those with `toJSON`, are left as they are. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value);
}
