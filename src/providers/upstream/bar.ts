/**
 * A server that was cut off is left alone for a while, longer each time, over every connection: each client may have one of
 * its own, and a server that floods one floods the next one, too.
 */
import { createPauses } from '../../connection/pauses.ts';
import type { Barred } from '../../connection/supervisor.ts';
import type { ResourceError } from '../../core/errors.ts';

/** Each flood costs something until it is cut off; growing pauses make floods rare. */
const PAUSES = { firstMs: 2_000, longestMs: 5 * 60_000 } as const;

/** Without being cut off for so long, a server begins anew, in milliseconds. */
const FORGIVEN_MS = 30 * 60_000;

export interface Bar extends Barred {
  /** It was cut off. */
  close(reason: ResourceError): void;
}

export function createBar(): Bar {
  const pauses = createPauses(PAUSES);
  let reason: ResourceError | undefined;
  let closedAt = 0;
  return {
    get leftMs() {
      return reason === undefined ? 0 : pauses.leftMs;
    },
    get reason() {
      return reason;
    },
    close(why) {
      if (Date.now() - closedAt > FORGIVEN_MS) pauses.reset();
      closedAt = Date.now();
      reason = why;
      pauses.grow();
    },
  };
}
