/** Estimates how much memory a parsed JSON value takes, with less work than writing it as text. */

/** Bytes of each value and each key, in addition to the characters of texts. */
const EACH = 16;

/**
 * Returns the approximate bytes of a JSON value, however deeply it is nested. Stops counting once the sum exceeds `limit`.
 * @param limit default: no limit
 */
export function weightOf(value: unknown, limit: number = Number.POSITIVE_INFINITY): number {
  const left: unknown[] = [value];
  let bytes = 0;
  for (let next = left.pop(); next !== undefined || left.length > 0; next = left.pop()) {
    if (bytes > limit) break;
    bytes += EACH;
    if (typeof next === 'string') bytes += next.length;
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next)) for (const each of next) left.push(each);
    else
      for (const key in next) {
        bytes += EACH + key.length;
        left.push((next as Readonly<Record<string, unknown>>)[key]);
      }
  }
  return bytes;
}
