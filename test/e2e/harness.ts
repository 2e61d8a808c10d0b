/**
 * One running server and one real client, for every transport and every era. Both are in this process, and exchange the bytes of the
 * wire. `programs.ts` is for tests that need a process.
 */
import { fileURLToPath } from 'node:url';
import {
  Client,
  type ClientOptions,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { type Listening, serveOverPipe, startHttp } from './serving.ts';
import { PATIENCE_MS, within } from './waiting.ts';

export { type Listening, startHttp };

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The built command; `VITRINE_CLI` names another build. */
export const CLI = process.env.VITRINE_CLI ?? fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
export const MUSEUM = fileURLToPath(new URL('../../examples/museum', import.meta.url));
export const MUSEUM_CONFIG = fileURLToPath(new URL('../../examples/vitrine.yaml', import.meta.url));

export const TRANSPORTS = ['stdio', 'http'] as const;
export const ERAS = ['legacy', 'modern'] as const;
export type TransportKind = (typeof TRANSPORTS)[number];
export type Era = (typeof ERAS)[number];

/** Every combination, for `describe.each`. */
export const MATRIX: readonly { readonly transport: TransportKind; readonly era: Era }[] = TRANSPORTS.flatMap(
  (transport) => ERAS.map((era) => ({ transport, era })),
);

/** Each transport and each era once, for tests that depend on neither. */
export const DIAGONAL: typeof MATRIX = MATRIX.filter(
  ({ transport, era }) => (transport === 'http') === (era === 'modern'),
);

/** Raw results. The SDK's typed methods drop unknown fields. */
const loose = z.looseObject({});

export interface Connected extends AsyncDisposable {
  readonly client: Client;
  readonly era: Era;
  /** Sends a request, and returns the result with every field. */
  request<T = Record<string, unknown>>(
    method: string,
    params?: Record<string, unknown>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<T>;
  /** The raw messages of the server since the handshake. */
  readonly received: readonly JSONRPCMessage[];
  /** Calls back for every further message. */
  onMessage(listener: (message: JSONRPCMessage) => void): void;
  /** Resolves when the server can send notifications. Over HTTP in the 2025 era that needs a stream. */
  readonly reachable: Promise<void>;
  /** The text that the server has written to standard error. */
  stderr(): string;
  close(): Promise<void>;
}

const versionNegotiation = { legacy: { mode: 'legacy' }, modern: { mode: { pin: '2026-07-28' } } } as const;

/** The questions that the server may ask the client, and the client's answers. */
export interface Abilities extends Pick<ClientOptions, 'capabilities' | 'inputRequired'> {
  /** Sets the handlers, before the handshake. */
  readonly prepare?: (client: Client) => void;
}

/** Connects to a running server. */
export async function connectHttp(
  era: Era,
  server: Pick<Listening, 'url' | 'output'>,
  abilities?: Abilities,
): Promise<Connected> {
  let opened = (): void => {};
  const stream = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (init?.method === 'GET' && response.ok) opened();
      return response;
    },
  });
  return connected(era, transport, {
    reachable: era === 'legacy' ? within(stream, 'the stream for notifications') : Promise.resolve(),
    beforeClose: () => transport.terminateSession(),
    stderr: server.output,
    abilities,
  });
}

export interface Ends {
  readonly reachable: Promise<void>;
  beforeClose(): Promise<void>;
  stderr(): string;
  readonly abilities: Abilities | undefined;
}

export async function connected(era: Era, transport: Transport, ends: Ends): Promise<Connected> {
  const { prepare, ...abilities } = ends.abilities ?? {};
  const options = { versionNegotiation: versionNegotiation[era], ...abilities };
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  prepare?.(client);
  ends.reachable.catch(() => {});
  await client.connect(transport, { timeout: PATIENCE_MS });
  const received: JSONRPCMessage[] = [];
  const listeners: ((message: JSONRPCMessage) => void)[] = [];
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => {
    received.push(message);
    deliver?.(message, extra);
    for (const listener of listeners) listener(message);
  };
  const close = async (): Promise<void> => {
    await ends.beforeClose().catch(() => {});
    await client.close();
  };
  return {
    client,
    era,
    request: async <T>(method: string, params: Record<string, unknown> = {}, options: { signal?: AbortSignal } = {}) =>
      (await client.request({ method, params }, loose, { timeout: PATIENCE_MS, ...options })) as T,
    received,
    onMessage: (listener) => void listeners.push(listener),
    reachable: ends.reachable,
    stderr: ends.stderr,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Serves `vitrine serve <args>` over stdio in this process, and connects to it. */
export async function connectStdio(era: Era, args: readonly string[], abilities?: Abilities): Promise<Connected> {
  const pipe = serveOverPipe(args);
  const connection = await connected(era, pipe.transport, {
    reachable: Promise.resolve(),
    beforeClose: async () => {},
    stderr: pipe.errors,
    abilities,
  }).catch(async (error: unknown) => {
    await pipe.end();
    throw error;
  });
  const close = async (): Promise<void> => {
    await connection.close();
    await pipe.end();
  };
  return { ...connection, close, [Symbol.asyncDispose]: close };
}

/** A server over either transport with one client of either era. */
export async function connect(
  transport: TransportKind,
  era: Era,
  args: readonly string[],
  abilities?: Abilities,
): Promise<Connected> {
  if (transport === 'stdio') return connectStdio(era, args, abilities);
  return connectOnly(era, await startHttp(args), abilities);
}

/** Connects the only client of a server. The server ends when the client closes. */
export async function connectOnly(era: Era, server: Listening, abilities?: Abilities): Promise<Connected> {
  const connection = await connectHttp(era, server, abilities).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  const close = async (): Promise<void> => {
    await connection.close();
    await server.stop();
  };
  return { ...connection, close, [Symbol.asyncDispose]: close };
}
