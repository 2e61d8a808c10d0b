/** The server of a bus over Redis: one that stays where it is, or the one that sentinels or a cluster name. */
import type { Server } from './client.ts';

export interface Place {
  /** @throws an error that says in a sentence why there is no server */
  locate(signal: AbortSignal): Promise<Server>;
  /** Whether the answer may be another one while a connection lasts. */
  readonly moves: boolean;
  /** Whether messages stay within the shard of their channel. */
  readonly sharded: boolean;
}
