/**
 * Keeps all connections away from a server for a while after it was cut off, longer each time. Each client may have a
 * connection of its own, and a server that floods one connection floods the next one, too.
 */
import { createPauses } from '../../connection/pauses.ts';
import type { Barred } from '../../connection/supervisor.ts';
import type { ResourceError } from '../../core/errors.ts';

/** A flood costs memory and time until it is cut off; growing pauses make floods rare. */
const PAUSES = { firstMs: 2_000, longestMs: 5 * 60_000 } as const;

/** If a server was not cut off for this long, in milliseconds, its next pause is short again. */
const FORGIVEN_MS = 30 * 60_000;

export interface Bar extends Barred {
  /** Begins a pause, because the server was cut off. */
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
