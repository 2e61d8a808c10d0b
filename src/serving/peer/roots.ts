/** The roots of a client of 2025: asked for when first needed, and again when it says that they changed. */

import { rootsIn } from '../../core/asking/needed.ts';
import type { Log } from '../../core/context.ts';

/** How long the client may take to say its roots, in milliseconds. */
export const ROOTS_TIMEOUT_MS = 10_000;

/** Roots that change while they are asked for are asked for again, this many times. */
const MAX_ROUNDS = 5;

/** Asks the client, on the way of a request where there is one. */
type Ask = () => Promise<unknown>;

export interface ClientRoots {
  /**
   * The roots as one immutable list: an operation that has it keeps it to its end (SEC-ROOT-2). Undefined when the client
   * does not say.
   * @param ask how it is asked; `request` tells that it is asked on the way of a request, which has one to the client
   */
  current(ask: Ask, request: boolean): Promise<readonly string[] | undefined>;
  /** The client said that its roots changed: no list of before is used any more. */
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
      // Without a request the question may have no way to the client: those that have one do not wait for it.
      const asked = request ? (asking ?? rounds(ask)) : rounds(ask);
      if (request) asking = asked;
      try {
        return await asked;
      } catch (error) {
        log.warn('the client does not say its roots', { error });
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
