/** How much memory a parsed JSON value takes, about: to know what is kept, for less than it takes to write it as text. */

/** Of an object, an array, a key or a number, beside the characters of texts, in bytes. */
const EACH = 16;

/** In bytes; of what has more than `limit`, more than that. However deep it is nested: a server may send anything. */
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
