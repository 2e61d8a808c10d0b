/** How deep a message is nested, found out without going down: what walks it later may do so by calling itself. */

/** Levels of arrays and objects in one message. Requests of the protocol have fewer than ten. */
export const MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether a JSON text opens more than `limit` brackets within each other. Linear, and stops there. */
export function isTextTooDeep(json: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(json, at);
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > limit) return true;
    } else if (code === 0x5d || code === 0x7d) {
      depth--;
    }
  }
  return false;
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

/** The same of what has been parsed by others. */
export function isTooDeep(value: unknown, limit: number): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limit) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? containersIn(each) : []));
  }
  return false;
}

const containersIn = (container: object): readonly unknown[] =>
  Object.values(container).filter((each) => typeof each === 'object' && each !== null);
