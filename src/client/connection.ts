/**
 * Holds the connection to a server: a client that the caller connected, or one that is connected here when it is needed. A lost
 * connection is made again at once while something is watched, and otherwise by the next request.
 */
import type { Client } from '@modelcontextprotocol/client';
import { createSupervisor, type Supervisor } from '../connection/supervisor.ts';
import { clientError, closedError, ResourceClientError } from './errors.ts';
import { createLink, type Data, type Link } from './link.ts';
import { checkedClient } from './source.ts';

/** The argument of a `connect` function. */
export interface ConnectContext {
  /** Aborted when nobody waits for the connection any more. */
  readonly signal: AbortSignal;
  /** To be called when an interrupted stream of notifications is back, because notifications may be lost. */
  missed(): void;
}

/** Makes a client and connects it; called again after the connection was lost. The caller closes the client. */
export type Connect = (context: ConnectContext) => Promise<Client>;

/** Called on changes of the connection, and with its notifications. */
export interface ConnectionEvents {
  notified(method: string, params: Data): void;
  missed(): void;
  /** A connection was made. @param again whether there was another one before */
  up(link: Link, again: boolean): void;
  /** The connection is lost. @param final whether it will not be made again */
  down(final: boolean): void;
}

/** Gives the connection, and makes one if there is none. @throws ResourceClientError `unavailable`, `denied`, `timeout`, `closed` */
export type Connection = Pick<Supervisor<Link>, 'get' | 'current' | 'keep' | 'close'>;

/** The pauses and attempts after a connection was lost. */
export interface ReconnectOptions {
  /** Pause after a first failure, in milliseconds; each further one is twice as long. Default 250. */
  readonly initialDelayMs?: number | undefined;
  /** The longest pause, in milliseconds. Default 30,000. */
  readonly maxDelayMs?: number | undefined;
  /** The number of attempts in a row that may fail before watches end with an error. Default 100. */
  readonly maxAttempts?: number | undefined;
}

/** @param source a connected client, which its owner has to close, or a function that connects one */
export function createConnection(
  source: Client | Connect,
  events: ConnectionEvents,
  { initialDelayMs = 250, maxDelayMs = 30_000, maxAttempts = 100 }: ReconnectOptions = {},
): Connection {
  const owned = typeof source === 'function';

  async function connected(signal: AbortSignal): Promise<Client> {
    if (owned) {
      const client: Partial<Client> | undefined = await source({ signal, missed: () => events.missed() });
      try {
        return checkedClient(client);
      } catch (error) {
        await client?.close?.().catch(() => {});
        throw error;
      }
    }
    if (source.transport !== undefined) return source;
    throw new ResourceClientError('unavailable', 'The client is not connected, or no longer');
  }

  async function close({ client, release }: Link): Promise<void> {
    release();
    if (owned) await client.close().catch(() => {});
  }

  const supervisor = createSupervisor<Link>({
    async open(signal) {
      const client = await connected(signal);
      const link: Link = createLink(
        client,
        {
          notified: events.notified,
          // A function that connects reports an interrupted stream itself, with `missed`.
          missed: () => owned || events.missed(),
          ended() {
            void close(link);
            supervisor.ended(link);
          },
        },
        owned,
      );
      return link;
    },
    close,
    pauses: { firstMs: initialDelayMs, longestMs: maxDelayMs },
    maxAttempts: owned ? maxAttempts : 0,
    words: {
      failed: (error) => clientError(error),
      slow: () => new ResourceClientError('unavailable', 'The server is still starting'),
      lost: () => new ResourceClientError('unavailable', 'The connection to the server is lost'),
      away: (cause) => clientError(cause),
      closed: closedError,
    },
    up: events.up,
    down: () => events.down(!owned),
    gaveUp: () => events.down(true),
  });
  return supervisor;
}
