/** The roots of a client of 2025: requested when they are needed, and kept until the client says that they changed. */
import { rootsIn } from '../../core/asking/needed.ts';
import type { Log } from '../../core/context.ts';

/** How long the client may take to answer, in milliseconds. */
export const ROOTS_TIMEOUT_MS = 10_000;

/**
 * The most requests for one answer. If the roots change during a request, they are requested again; after the last request they
 * count as unknown.
 */
const MAX_ROUNDS = 5;

/** Asks the client for its roots: as a part of a request if there is one. */
type Ask = () => Promise<unknown>;

export interface ClientRoots {
  /**
   * Returns the roots as an immutable list, which one operation uses to its end (SEC-ROOT-2). Undefined if the client does not
   * answer, or if the roots change during each of MAX_ROUNDS requests.
   * @param ask sends `roots/list`
   * @param request whether `roots/list` is sent as a part of a request, which has a stream to the client
   */
  current(ask: Ask, request: boolean): Promise<readonly string[] | undefined>;
  /** Drops the roots: the client said that they changed. */
  changed(): void;
}

export function createClientRoots(log: Log): ClientRoots {
  let kept: readonly string[] | undefined;
  let shared: Promise<readonly string[] | undefined> | undefined;
  let changes = 0;

  async function rounds(ask: Ask): Promise<readonly string[] | undefined> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const before = changes;
      const roots = rootsIn(await ask());
      if (before !== changes) continue;
      kept = roots;
      return roots;
    }
    return undefined;
  }

  return {
    async current(ask, request) {
      if (kept !== undefined) return kept;
      // A question that is not part of a request may have no stream to the client. So only questions of requests are shared:
      // a request must not wait for a question that may never arrive.
      const roots = request ? (shared ?? rounds(ask)) : rounds(ask);
      if (request) shared = roots;
      try {
        return await roots;
      } catch (error) {
        log.warn('the client did not answer the request for its roots', { error });
        return undefined;
      } finally {
        if (shared === roots) shared = undefined;
      }
    },
    changed() {
      changes++;
      kept = undefined;
      shared = undefined;
    },
  };
}
