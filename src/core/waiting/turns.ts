/** So many works at a time; the others wait for their turn. */

/** Runs a work when it is its turn. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** @param places works that run at a time */
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
