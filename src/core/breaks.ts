/** Long work on the event loop, in pieces between which others have their turn. */
import { setImmediate as turn } from 'node:timers/promises';

/** How long a piece may take, in milliseconds. */
const PIECE_MS = 10;

/**
 * Called between two steps of the work; where it gives a promise, it is time to wait for that.
 * @example
 * const taken = breaks();
 * for (const each of all) {
 *   work(each);
 *   await taken();
 * }
 */
export function breaks(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < PIECE_MS) return undefined;
    return turn().then(() => {
      since = performance.now();
    });
  };
}
