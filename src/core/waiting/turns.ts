/** Limits how much work runs at a time. Further work waits for its turn; too much of it is refused. */
import { ResourceError } from '../errors.ts';
import { createLine } from './line.ts';

/** Runs the work when its turn comes, and settles as the work does. @throws ResourceError `limited` if too much work waits already */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * @param places how many pieces of work run at a time
 * @param mostWaiting how many pieces of work may wait
 */
export function createTurns(places: number, mostWaiting: number): InTurn {
  const waiting = createLine<() => void>();
  let free = places;
  return async (work) => {
    if (free > 0) free--;
    else if (waiting.length < mostWaiting) await new Promise<void>((resolve) => waiting.join(resolve));
    else
      throw new ResourceError('limited', 'Too much is waiting; try again later', { details: { limit: mostWaiting } });
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
