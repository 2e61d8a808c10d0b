/** Measures the depth of a message without recursion, so that recursive code may walk it later. */

/** The most levels of arrays and objects in one message. Requests of the protocol have fewer than ten. */
export const MAX_DEPTH = 64;

/** Whether a parsed value has more than `limit` levels; `excessOf` checks a text. */
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
