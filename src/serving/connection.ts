/** Whom a server serves. */
import type { Log, Principal } from '../core/context.ts';
import type { Subscriptions } from './subscriptions.ts';

/** What a server needs to know of whom it serves. */
export interface Connection {
  readonly era: 'legacy' | 'modern';
  readonly log: Log;
  readonly principal?: Principal | undefined;
  /** What keeps the peers apart: a connection or session where there is one. */
  readonly peer?: string | undefined;
  /** Of a 2025-era connection, whose methods are `resources/subscribe` and `unsubscribe`. */
  readonly subscriptions?: Subscriptions | undefined;
}
