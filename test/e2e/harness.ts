/** One running server and one real client, for every way of serving and every era. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
export const MUSEUM = fileURLToPath(new URL('../../examples/museum', import.meta.url));

export const TRANSPORTS = ['stdio', 'http'] as const;
export const ERAS = ['legacy', 'modern'] as const;
export type TransportKind = (typeof TRANSPORTS)[number];
export type Era = (typeof ERAS)[number];

/** Every pairing, for `describe.each`. */
export const MATRIX: readonly { readonly transport: TransportKind; readonly era: Era }[] = TRANSPORTS.flatMap(
  (transport) => ERAS.map((era) => ({ transport, era })),
);

/** Results as they are on the wire: the SDK's typed methods drop fields they do not know. */
const loose = z.looseObject({});

export interface Connected extends AsyncDisposable {
  readonly client: Client;
  /** Sends a request and returns the result with every field. */
  request<T = Record<string, unknown>>(method: string, params?: Record<string, unknown>): Promise<T>;
  /** What the server wrote to standard error, over stdio. */
  stderr(): string;
  close(): Promise<void>;
}

const versionNegotiation = { legacy: { mode: 'legacy' }, modern: { mode: { pin: '2026-07-28' } } } as const;

/** Starts `vitrine serve <args>` over stdio and connects to it. */
export async function connectStdio(era: Era, args: readonly string[], cwd = ROOT): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'serve', ...args],
    cwd,
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: versionNegotiation[era] });
  await client.connect(transport);
  return connected(
    client,
    async () => {},
    () => stderr,
  );
}

/** Connects to a server that is already listening. */
export async function connectHttp(era: Era, url: string): Promise<Connected> {
  const transport = new StreamableHTTPClientTransport(new URL(url));
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: versionNegotiation[era] });
  await client.connect(transport);
  return connected(
    client,
    () => transport.terminateSession(),
    () => '',
  );
}

function connected(client: Client, beforeClose: () => Promise<void>, stderr: () => string): Connected {
  const close = async (): Promise<void> => {
    await beforeClose().catch(() => {});
    await client.close();
  };
  return {
    client,
    request: async <T>(method: string, params: Record<string, unknown> = {}) =>
      (await client.request({ method, params }, loose)) as T,
    stderr,
    close,
    [Symbol.asyncDispose]: close,
  };
}

export interface Listening extends AsyncDisposable {
  readonly url: string;
  readonly process: ChildProcess;
  /** Standard output and error so far. */
  output(): string;
  /** Sends a signal and resolves with the exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `vitrine serve <args> --http 0` and resolves when it listens. */
export async function startHttp(args: readonly string[], cwd = ROOT): Promise<Listening> {
  const child = spawn(process.execPath, [CLI, 'serve', ...args, '--http', '0'], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /Endpoint: (\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code;
  };
  return { url, process: child, output: () => output, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

/** A server over either transport with one client of either era. */
export async function connect(transport: TransportKind, era: Era, args: readonly string[]): Promise<Connected> {
  if (transport === 'stdio') return connectStdio(era, args);
  const server = await startHttp(args);
  const connection = await connectHttp(era, server.url);
  const close = async (): Promise<void> => {
    await connection.close();
    await server.stop();
  };
  return { ...connection, stderr: server.output, close, [Symbol.asyncDispose]: close };
}
