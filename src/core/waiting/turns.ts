/** Limits how much work runs at a time; the rest waits for its turn. */

/** Runs work when it is its turn, and settles like it. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** @param places how many pieces of work run at a time */
export function createTurns(places: number): InTurn {
  const waiting: (() => void)[] = [];
  let free = places;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
