/** How much there is in a JSON text, found out before it is parsed: in one pass, without going down and without copies. */

export interface JsonLimits {
  /** Entries of arrays and fields of objects, all together; an empty one of either counts as one more. */
  readonly values: number;
  /** Levels of arrays and objects within each other. */
  readonly depth: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** Which of the limits the text goes over, the first that is found; undefined where it keeps both. Stops there. */
export function excessOf(json: string, { values, depth }: JsonLimits): keyof JsonLimits | undefined {
  if (json.length <= Math.min(values, depth)) return undefined;
  let counted = 0;
  let open = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(json, at);
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

/** Where the string ends that begins here. */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at - 1;
    while (json.charCodeAt(before) === BACKSLASH) before--;
    // An odd number of backslashes takes the quotation mark into the string.
    if ((at - before) % 2 === 1) return at;
  }
  return json.length;
}
