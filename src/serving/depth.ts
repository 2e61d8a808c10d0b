/** How deep a message is nested, found out without going down: what walks it later may do so by calling itself. */

/** Levels of arrays and objects in one message. Requests of the protocol have fewer than ten. */
export const MAX_DEPTH = 64;

/** Whether a parsed value has more than `limit` levels; `excessOf` says this of a text. */
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
