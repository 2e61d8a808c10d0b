/** Finds the Redis server of a bus: at a fixed address, or at the one that sentinels or a cluster name. */
import type { Server } from './client.ts';

export interface Place {
  /** @throws an error whose message says why there is no server */
  locate(signal: AbortSignal): Promise<Server>;
  /** Whether the server can change while a connection lasts. */
  readonly moves: boolean;
  /** Whether the bus uses sharded channels, whose messages stay within one shard of a cluster. */
  readonly sharded: boolean;
}
