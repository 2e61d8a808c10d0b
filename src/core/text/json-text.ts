/** Measures a JSON text before it is parsed: in one pass, without recursion and without copies. */

export interface JsonLimits {
  /**
   * The most array entries and object fields together. An empty array or object counts as if it had one. A field name counts
   * `NEW_NAME` more when it comes for the first time: a parser stores each name once, which is slow.
   */
  readonly values: number;
  /** The most levels of nested arrays and objects. */
  readonly depth: number;
}

/** The extra count of a field name that comes for the first time. */
export const NEW_NAME = 3;

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const SPACE = 0x20;
const BACKSLASH = 0x5c;

/** Returns the first limit that the text exceeds; undefined where it exceeds none. */
export function excessOf(json: string, { values, depth }: JsonLimits): keyof JsonLimits | undefined {
  if (json.length <= Math.min(values, depth)) return undefined;
  let counted = 0;
  let open = 0;
  // Names matter only where values are limited.
  const names = values === Number.POSITIVE_INFINITY ? undefined : new Set<number>();
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const from = at;
      at = endOfString(json, at);
      if (names === undefined || !isName(json, at)) continue;
      const name = hashOf(json, from, at);
      if (names.has(name)) continue;
      names.add(name);
      counted += NEW_NAME;
      if (counted > values) return 'values';
    } else if (code === 0x5b || code === 0x7b) {
      if (++open > depth) return 'depth';
      if (++counted > values) return 'values';
    } else if (code === COMMA) {
      if (++counted > values) return 'values';
    } else if (code === 0x5d || code === 0x7d) {
      open--;
    }
  }
  return undefined;
}

/** Whether the string that ends here is a field name. */
function isName(json: string, end: number): boolean {
  let after = end + 1;
  while (json.charCodeAt(after) <= SPACE) after++;
  return json.charCodeAt(after) === COLON;
}

/** A random seed per process, so that nobody can prepare names with equal hashes. */
const SEED = Math.trunc(Math.random() * 2 ** 32);

/** The FNV-1a hash. */
function hashOf(json: string, from: number, to: number): number {
  let hash = SEED;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ json.charCodeAt(at), 0x01000193);
  return hash;
}

/** Returns the end of the string that begins at `from`. */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at - 1;
    while (json.charCodeAt(before) === BACKSLASH) before--;
    // After an odd number of backslashes, the quotation mark belongs to the string.
    if ((at - before) % 2 === 1) return at;
  }
  return json.length;
}
