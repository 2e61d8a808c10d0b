/** A number of places, and a queue of those who wait for one. */
import { ResourceError } from '../../core/errors.ts';

/** Those who wait at most; who comes then is refused. */
const MAX_WAITING = 256;

export interface Places {
  /** Resolves with what gives the place back. @throws ResourceError `limited`, or the reason of the signal */
  take(signal: AbortSignal): Promise<() => void>;
}

export function createPlaces(count: number): Places {
  const queue: ((release: () => void) => void)[] = [];
  let free = count;

  function place(): () => void {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const next = queue.shift();
      if (next === undefined) free++;
      else next(place());
    };
  }

  return {
    async take(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free--;
        return place();
      }
      if (queue.length >= MAX_WAITING)
        throw new ResourceError('limited', 'Too many programs are waiting to run', { details: { limit: MAX_WAITING } });
      return await new Promise((resolve, reject) => {
        const leave = (): void => {
          const at = queue.indexOf(enter);
          if (at !== -1) queue.splice(at, 1);
          reject(signal.reason);
        };
        const enter = (release: () => void): void => {
          signal.removeEventListener('abort', leave);
          resolve(release);
        };
        signal.addEventListener('abort', leave, { once: true });
        queue.push(enter);
      });
    },
  };
}
