/**
 * The way to a server: a client that somebody else connected, or one that is connected here when it is needed, and again
 * after it was lost. As long as something is watched it is kept up; else the next request brings it back.
 */
import type { Client } from '@modelcontextprotocol/client';
import { createSupervisor, type Supervisor } from '../connection/supervisor.ts';
import { clientError, closedError, ResourceClientError } from './errors.ts';
import { createLink, type Data, type Link } from './link.ts';

/** The argument of a `connect` function. */
export interface ConnectContext {
  /** Aborted when nobody waits for the connection any more. */
  readonly signal: AbortSignal;
  /** To be called when a stream of notifications was interrupted and is back: what came meanwhile is lost. */
  missed(): void;
}

/** Makes a client and connects it. Called again when the connection was lost. The result is closed by its user. */
export type Connect = (context: ConnectContext) => Promise<Client>;

export interface ConnectionEvents {
  notified(method: string, params: Data): void;
  missed(): void;
  /** A connection is there. @param again whether there was another one before */
  up(link: Link, again: boolean): void;
  /** It is lost. @param final whether it is not made again */
  down(final: boolean): void;
}

/** Gives a connection, made if there is none. @throws ResourceClientError `unavailable`, `denied`, `timeout`, `closed` */
export type Connection = Pick<Supervisor<Link>, 'get' | 'current' | 'keep' | 'close'>;

export interface ReconnectOptions {
  /** Pause after a first failure, in milliseconds; each further one is twice as long. Default 250. */
  readonly initialDelayMs?: number | undefined;
  /** The longest pause, in milliseconds. Default 30,000. */
  readonly maxDelayMs?: number | undefined;
  /** Attempts in a row that may fail before those who watch get an error. Default 100. */
  readonly maxAttempts?: number | undefined;
}

/** @param source a connected client, which stays its owner's to close, or how to connect one */
export function createConnection(
  source: Client | Connect,
  events: ConnectionEvents,
  { initialDelayMs = 250, maxDelayMs = 30_000, maxAttempts = 100 }: ReconnectOptions = {},
): Connection {
  const owned = typeof source === 'function';

  async function connected(signal: AbortSignal): Promise<Client> {
    if (owned) return source({ signal, missed: () => events.missed() });
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
          // If a function connected, it looks after the stream and tells when that is back.
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
