/** How much there is in a JSON text, found out before it is parsed: in one pass, without going down and without copies. */

export interface JsonLimits {
  /**
   * Entries of arrays and fields of objects, all together; an empty one of either counts as one more, and a field's name
   * that did not come before as `NEW_NAME` more: a parser keeps each name once, which takes it longest.
   */
  readonly values: number;
  /** Levels of arrays and objects within each other. */
  readonly depth: number;
}

/** A field's name counts for so many values more when it comes for the first time. */
export const NEW_NAME = 3;

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const SPACE = 0x20;
const BACKSLASH = 0x5c;

/** Which of the limits the text goes over, the first that is found; undefined where it keeps both. Stops there. */
export function excessOf(json: string, { values, depth }: JsonLimits): keyof JsonLimits | undefined {
  if (json.length <= Math.min(values, depth)) return undefined;
  let counted = 0;
  let open = 0;
  // Nobody asks for names where only the depth counts.
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

/** Whether the string that ends here is the name of a field. */
function isName(json: string, end: number): boolean {
  let after = end + 1;
  while (json.charCodeAt(after) <= SPACE) after++;
  return json.charCodeAt(after) === COLON;
}

/** Another one in each process: names that come to the same are not known beforehand. */
const SEED = Math.trunc(Math.random() * 2 ** 32);

/** FNV-1a. */
function hashOf(json: string, from: number, to: number): number {
  let hash = SEED;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ json.charCodeAt(at), 0x01000193);
  return hash;
}

/** The end of the string that begins at `from`. */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at - 1;
    while (json.charCodeAt(before) === BACKSLASH) before--;
    // An odd number of backslashes takes the quotation mark into the string.
    if ((at - before) % 2 === 1) return at;
  }
  return json.length;
}
