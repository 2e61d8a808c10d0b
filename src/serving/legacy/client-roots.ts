/** The roots of the client of one 2025-era connection: asked for when first needed, and again when it says they changed. */
import type { RequestId, Server } from '@modelcontextprotocol/server';
import type { Log } from '../../core/context.ts';
import { rootsIn } from '../../core/roots.ts';

/** How long the client may take to say its roots, in milliseconds. */
const ROOTS_TIMEOUT_MS = 10_000;

/** Roots that change while they are asked for are asked for again, this many times. */
const MAX_ROUNDS = 5;

export interface ClientRoots {
  /**
   * The roots as one immutable list: an operation that has it keeps it to its end (SEC-ROOT-2). Undefined when the client
   * has none to say, or does not say.
   * @param request the request that needs them: over HTTP the question goes out on its stream
   */
  current(request?: RequestId): Promise<readonly string[] | undefined>;
}

/** @param onChange called after the client said that its roots changed, with no list of before in use any more */
export function createClientRoots(server: Server, log: Log, onChange: () => void): ClientRoots {
  let known: readonly string[] | undefined;
  let asking: Promise<readonly string[] | undefined> | undefined;
  let changes = 0;

  async function ask(request: RequestId | undefined): Promise<readonly string[] | undefined> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const before = changes;
      const options = { timeout: ROOTS_TIMEOUT_MS, ...(request !== undefined && { relatedRequestId: request }) };
      const roots = rootsIn(await server.listRoots(undefined, options));
      if (before !== changes) continue;
      known = roots;
      return roots;
    }
    return undefined;
  }

  server.setNotificationHandler('notifications/roots/list_changed', () => {
    changes++;
    known = undefined;
    asking = undefined;
    onChange();
  });

  return {
    async current(request) {
      if (server.getClientCapabilities()?.roots === undefined) return undefined;
      if (known !== undefined) return known;
      // Without a request the question may have no way to the client: those that have one do not wait for it.
      const asked = request === undefined ? ask(request) : (asking ?? ask(request));
      if (request !== undefined) asking = asked;
      try {
        return await asked;
      } catch (error) {
        log.warn('the client does not say its roots', { error });
        return undefined;
      } finally {
        if (asking === asked) asking = undefined;
      }
    },
  };
}
