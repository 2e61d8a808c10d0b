/**
 * The way to a server: a client that somebody else connected, or one that is connected here when it is needed, and again
 * after it was lost. As long as something is watched it is kept up; else the next request brings it back.
 */
import type { Client } from '@modelcontextprotocol/client';
import { clientError, closedError, ResourceClientError } from './errors.ts';
import { createLink, type Data, type Link } from './link.ts';

/** What a `connect` function is given. */
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

export interface Connection {
  /** The connection, made if there is none. @throws ResourceClientError `unavailable`, `denied`, `timeout`, `closed` */
  get(signal?: AbortSignal): Promise<Link>;
  readonly current: Link | undefined;
  /** Keeps it up until the lease is disposed of. */
  keep(): Disposable;
  close(): Promise<void>;
}

export interface ReconnectOptions {
  /** Pause before the first attempt, in milliseconds; each further one is twice as long. Default 250. */
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
  const lifetime = new AbortController();
  let link: Link | undefined;
  let connecting: Promise<Link> | undefined;
  let before = false;
  let keepers = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempts = 0;

  function adopt(client: Client): Link {
    const made = createLink(client, {
      notified: events.notified,
      // Where the stream is looked after by whoever connected, that tells when it is back.
      missed: () => owned || events.missed(),
      ended() {
        if (link !== made) return;
        link = undefined;
        if (owned) void client.close().catch(() => {});
        events.down(!owned);
        again(initialDelayMs);
      },
    });
    return made;
  }

  async function open(): Promise<Link> {
    lifetime.signal.throwIfAborted();
    if (!owned) {
      if (source.transport === undefined) {
        throw new ResourceClientError('unavailable', 'The client is not connected, or no longer');
      }
      return adopt(source);
    }
    const client = await source({ signal: lifetime.signal, missed: () => events.missed() });
    if (!lifetime.signal.aborted) return adopt(client);
    await client.close().catch(() => {});
    throw lifetime.signal.reason;
  }

  async function connect(): Promise<Link> {
    try {
      const made = await open();
      link = made;
      attempts = 0;
      const wasThere = before;
      before = true;
      events.up(made, wasThere);
      return made;
    } catch (error) {
      throw lifetime.signal.aborted ? lifetime.signal.reason : clientError(error);
    } finally {
      connecting = undefined;
    }
  }

  const shared = (): Promise<Link> => (connecting ??= connect());

  /** As long as it is wanted: after a pause, which grows. */
  function again(pauseMs: number): void {
    if (!owned || keepers === 0 || timer !== undefined || lifetime.signal.aborted) return;
    timer = setTimeout(() => {
      timer = undefined;
      if (keepers === 0 || link !== undefined || lifetime.signal.aborted) return;
      shared().catch(() => {
        attempts++;
        if (attempts >= maxAttempts) events.down(true);
        else again(Math.min(pauseMs * 2, maxDelayMs));
      });
    }, pauseMs);
  }

  return {
    async get(signal) {
      signal?.throwIfAborted();
      if (lifetime.signal.aborted) throw lifetime.signal.reason;
      if (link !== undefined) return link;
      const made = shared();
      return signal === undefined ? made : await abortable(made, signal);
    },
    get current() {
      return link;
    },
    keep() {
      keepers++;
      let kept = true;
      return {
        [Symbol.dispose]() {
          if (!kept) return;
          kept = false;
          keepers--;
          if (keepers > 0) return;
          clearTimeout(timer);
          timer = undefined;
          attempts = 0;
        },
      };
    },
    async close() {
      if (lifetime.signal.aborted) return;
      lifetime.abort(closedError());
      clearTimeout(timer);
      const last = link;
      link = undefined;
      last?.release();
      await connecting?.catch(() => {});
      if (owned) await last?.client.close().catch(() => {});
    },
  };
}

/** What the promise gives, or the reason of the signal, whichever is first. The work behind goes on for others. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
