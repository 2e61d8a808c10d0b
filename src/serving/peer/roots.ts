/** The roots of a client of 2025: requested when first needed, and again when the client says that they changed. */

import { rootsIn } from '../../core/asking/needed.ts';
import type { Log } from '../../core/context.ts';

/** How long the client may take to answer, in milliseconds. */
export const ROOTS_TIMEOUT_MS = 10_000;

/** Roots that change during the request are requested again, at most this many times. */
const MAX_ROUNDS = 5;

/** Asks the client for its roots: as a part of a request if there is one. */
type Ask = () => Promise<unknown>;

export interface ClientRoots {
  /**
   * Returns the roots as an immutable list, which one operation uses to its end (SEC-ROOT-2). Undefined when the client does not
   * answer.
   * @param ask sends the request; `request` tells whether it is sent as a part of a request, which has a stream to the client
   */
  current(ask: Ask, request: boolean): Promise<readonly string[] | undefined>;
  /** Drops the known roots: the client said that they changed. */
  changed(): void;
}

export function createClientRoots(log: Log): ClientRoots {
  let known: readonly string[] | undefined;
  let asking: Promise<readonly string[] | undefined> | undefined;
  let changes = 0;

  async function rounds(ask: Ask): Promise<readonly string[] | undefined> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const before = changes;
      const roots = rootsIn(await ask());
      if (before !== changes) continue;
      known = roots;
      return roots;
    }
    return undefined;
  }

  return {
    async current(ask, request) {
      if (known !== undefined) return known;
      // Without a request, the question may have no stream to the client; a request that has one must not wait for it.
      const asked = request ? (asking ?? rounds(ask)) : rounds(ask);
      if (request) asking = asked;
      try {
        return await asked;
      } catch (error) {
        log.warn('the client did not answer the request for its roots', { error });
        return undefined;
      } finally {
        if (asking === asked) asking = undefined;
      }
    },
    changed() {
      changes++;
      known = undefined;
      asking = undefined;
    },
  };
}
