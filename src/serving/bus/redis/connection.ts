/** Keeps a connection to Redis: whenever the connection ends, makes a new one, to the address that the server has by then. */
import { setTimeout as pause } from 'node:timers/promises';
import { abortable, withOwnSignal } from '../../../core/waiting/abortable.ts';
import {
  asRefusal,
  type Client,
  type Commands,
  connect,
  nameOf,
  type OpenClient,
  type Server,
  unavailable,
} from './client.ts';

/** The time between two attempts to connect, in milliseconds: at first, and at most, because it doubles each time. */
const RETRY_MS = { first: 50, most: 1_000 } as const;

export interface Connecting {
  readonly open: OpenClient;
  /** Finds the server to connect to. @throws an error whose message says why there is none */
  locate(signal: AbortSignal): Promise<Server>;
  /** Prepares a new connection. If this fails, the connection is ended and another one made. */
  prepare(client: Client, server: Server): Promise<void>;
  /** Called when a connection can be used. */
  onReady(): void;
  /** Called when the connection cannot be made, has ended, or reports an error. */
  onBroken(error: unknown): void;
}

export interface Connection {
  /** Commands over the current connection. They fail with `unavailable` while there is none. */
  readonly commands: Commands;
  /** The host and port of the server; undefined while there is no connection. */
  readonly at: string | undefined;
  /** Ends the connection if it goes to another server than this one. */
  moveTo(server: Server): void;
  /** Ends the connection, and reports this reason. */
  leave(reason: unknown): void;
  /** Resolves when nothing is left running. */
  close(): Promise<void>;
}

/** Connects, and connects again whenever the connection ends, until `close` is called. */
export function keepConnected({ open, locate, prepare, onReady, onBroken }: Connecting): Connection {
  const closing = new AbortController();
  let current: { readonly client: Client; readonly server: Server } | undefined;
  let leave: (reason: unknown) => void = () => {};
  let failures = 0;

  /** Makes one connection and waits for its end. @returns why it ended */
  const connectOnce = (): Promise<unknown> =>
    withOwnSignal(closing.signal, async (closed) => {
      const ending = new AbortController();
      const signal = AbortSignal.any([closed, ending.signal]);
      leave = (reason) => ending.abort(reason);
      const server = await locate(signal);
      const client = open(server);
      // The client is still open after some errors. Otherwise the package has ended it, because its connection is broken.
      client.on('error', (error) => (client.isOpen ? onBroken(error) : ending.abort(error)));
      client.on('sharded-channel-moved', () => ending.abort(unavailable('The cluster has moved the keys of the bus')));
      try {
        await connect(client, signal);
        await abortable(prepare(client, server), signal);
        current = { client, server };
        failures = 0;
        onReady();
        return await abortable(new Promise(() => {}), signal);
      } catch (error) {
        return asRefusal(error, 'The server', server);
      } finally {
        current = undefined;
        ending.abort();
        client.destroy();
      }
    });

  async function keep(): Promise<void> {
    while (!closing.signal.aborted) {
      const error = await connectOnce().catch((reason: unknown) => reason);
      if (closing.signal.aborted) return;
      onBroken(error);
      const ms = Math.min(RETRY_MS.first * 2 ** Math.min(failures++, 10), RETRY_MS.most);
      await pause(ms, undefined, { signal: closing.signal }).catch(() => {});
    }
  }
  const keeping = keep();

  function connected(): Client {
    if (current === undefined) throw unavailable('The bus is away');
    return current.client;
  }

  return {
    commands: {
      publish: async (...args) => connected().publish(...args),
      sPublish: async (...args) => connected().sPublish(...args),
      hKeys: async (...args) => connected().hKeys(...args),
      hDel: async (...args) => connected().hDel(...args),
      hGetAll: async (...args) => connected().hGetAll(...args),
      eval: async (...args) => connected().eval(...args),
      multi: () => connected().multi(),
    },
    get at() {
      return current && nameOf(current.server);
    },
    moveTo(server) {
      if (current !== undefined && nameOf(current.server) !== nameOf(server))
        leave(unavailable(`The bus is at ${nameOf(server)} now, and no longer at ${nameOf(current.server)}`));
    },
    leave: (reason) => {
      if (current !== undefined) leave(reason);
    },
    async close() {
      closing.abort();
      await keeping;
    },
  };
}
