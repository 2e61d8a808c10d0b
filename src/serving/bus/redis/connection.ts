/** A connection to Redis that is made anew whenever it ends, to wherever the server is by then. */
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

/** Between attempts to connect again, in milliseconds: the first, and the most that it grows to. */
const RETRY_MS = { first: 50, most: 1_000 } as const;

export interface Connecting {
  readonly open: OpenClient;
  /** Finds the server to connect to. @throws an error that says in a sentence why there is none */
  locate(signal: AbortSignal): Promise<Server>;
  /** Makes a new connection fit for its use. The connection is made anew where this fails. */
  prepare(client: Client, server: Server): Promise<void>;
  /** The connection can be used. */
  onReady(): void;
  /** It cannot be used, or may not be whole. */
  onBroken(error: unknown): void;
}

export interface Connection {
  /** Their commands go over the connection that there is, and are refused with `unavailable` while there is none. */
  readonly commands: Commands;
  /** The server that it is to, as host and port; undefined while it cannot be used. */
  readonly at: string | undefined;
  /** Ends a connection to any other server than this one. */
  moveTo(server: Server): void;
  /** Ends the connection for this reason. */
  leave(reason: unknown): void;
  /** Resolves when nothing is left running. */
  close(): Promise<void>;
}

/** Begins to connect, and goes on until it is closed. */
export function keepConnected({ open, locate, prepare, onReady, onBroken }: Connecting): Connection {
  const closing = new AbortController();
  let current: { readonly client: Client; readonly server: Server } | undefined;
  let leave: (reason: unknown) => void = () => {};
  let failures = 0;

  /** @returns why it ended */
  const connectOnce = (): Promise<unknown> =>
    withOwnSignal(closing.signal, async (closed) => {
      const ending = new AbortController();
      const signal = AbortSignal.any([closed, ending.signal]);
      leave = (reason) => ending.abort(reason);
      const server = await locate(signal);
      const client = open(server);
      // The package ends a client whose connection is broken; other errors leave it as it is.
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
  const kept = keep();

  function needed(): Client {
    if (current === undefined) throw unavailable('The bus is away');
    return current.client;
  }

  return {
    commands: {
      publish: async (...args) => needed().publish(...args),
      sPublish: async (...args) => needed().sPublish(...args),
      hKeys: async (...args) => needed().hKeys(...args),
      hDel: async (...args) => needed().hDel(...args),
      hGetAll: async (...args) => needed().hGetAll(...args),
      eval: async (...args) => needed().eval(...args),
      multi: () => needed().multi(),
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
      await kept;
    },
  };
}
