/** Results with long strings in them, such as those of tools: texts that are sent in pieces come in their place. */

import { LONG_BYTES, longString } from '../../core/text/long-text.ts';
import { isData } from '../../protocol/data.ts';

/** The most levels of a result; strings that are nested deeper are sent as they are. */
const MAX_LEVELS = 16;

/** The same result, or a copy with a `LongText` for each long string: the JSON of both is the same. */
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

/** Whether an object has no way of its own into JSON; one that has is left as it is. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value);
}
