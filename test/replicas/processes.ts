/** Replicas as processes that can be killed, and a proxy that forwards requests to them in turn. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { within } from '../e2e/waiting.ts';

const COMMAND = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** A process that serves. It is killed when it is disposed of, if it still runs. */
export interface Serving extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  /** The text that it wrote to standard error. */
  errors(): string;
  kill(): Promise<void>;
  /** Ends it in order. @returns its exit status */
  stop(): Promise<number | null>;
}

/** Starts `vitrine serve` and waits until it serves. */
export const startVitrine = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Serving> =>
  startServing([COMMAND, 'serve', ...args], env);

/** Starts a Node program and waits until it has written its endpoint. */
export async function startServing(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Serving> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = once(child, 'close');
  const port = await within(
    portOf(child, () => errors),
    'a replica to serve',
  );
  return {
    port,
    pid: child.pid ?? 0,
    errors: () => errors,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      await within(ended, 'the end of a replica');
      return child.exitCode;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function portOf(child: ChildProcess, errors: () => string): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const found = /http:\/\/[^:]+:(\d+)\/mcp/.exec(said)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    child.once('close', (status) => reject(new Error(`a replica ended with ${status} before it served: ${errors()}`)));
  });
}

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** The number of forwarded requests of each replica. */
  readonly counts: readonly number[];
}

/** Forwards each request to the next replica, and to the one after it if nobody listens there, as proxies do. */
export async function startProxy(ports: readonly number[]): Promise<Proxy> {
  let turn = 0;
  const counts = ports.map(() => 0);
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing)).listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    for (let tries = 0; tries < ports.length; tries++) {
      const at = turn++ % ports.length;
      if (await passTo(at, incoming, outgoing, body)) return;
    }
    outgoing.writeHead(502).end();
  }

  /** @returns whether somebody listened there */
  function passTo(at: number, incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer): Promise<boolean> {
    return new Promise((resolve) => {
      const { method, url, headers } = incoming;
      const { host: _host, connection: _connection, ...rest } = headers;
      const passed = forward({ host: '127.0.0.1', port: ports[at], method, path: url, headers: rest, agent: false });
      passed.on('response', (answer) => {
        counts[at] = (counts[at] ?? 0) + 1;
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
        answer.on('error', () => outgoing.destroy());
        outgoing.on('close', () => passed.destroy());
        resolve(true);
      });
      passed.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED') return resolve(false);
        // The replica ended during the request, so its outcome is unknown.
        if (outgoing.headersSent) outgoing.destroy();
        else outgoing.writeHead(502).end();
        resolve(true);
      });
      passed.end(body);
    });
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    counts,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
