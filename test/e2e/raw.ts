/** Raw messages, for requests that a correct client does not send. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface, type Interface } from 'node:readline';
import type { Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { CLI, type Era, ROOT } from './harness.ts';
import { runServe } from './serving.ts';
import { within } from './waiting.ts';

/** Every request of the 2026-07-28 era contains this. */
export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1.0.0' },
};

/** The lines to a server over a pipe, and those that come back. */
interface RawLines {
  /** The lines of standard output so far. */
  readonly lines: readonly string[];
  /** Writes to standard input unchanged. */
  write(text: string): void;
  /** Sends a request, and resolves with its answer. */
  request(id: number, method: string, params?: object): Promise<Answer>;
  notify(method: string, params?: object): void;
  /** Resolves with the first line, past or future, that satisfies the condition. */
  line(satisfies: (message: JSONRPCMessage) => boolean, what: string): Promise<JSONRPCMessage>;
}

export interface RawStdio extends RawLines, AsyncDisposable {
  readonly pid: number;
  stderr(): string;
  /** Closes standard input. */
  end(): void;
  /** Stops reading the output of the server, like a host that has died. */
  hangUp(): void;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface Answer {
  readonly id: number;
  readonly result?: Record<string, unknown>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

function rawLines(era: Era, input: Writable, output: Interface): RawLines {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  output.on('line', (text) => {
    lines.push(text);
    for (const check of [...waiting]) check();
  });
  const write = (text: string): void => void input.write(text);
  const send = (message: object): void => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const inEra = (params: object): object => (era === 'modern' ? { ...params, _meta: ENVELOPE } : params);
  const line: RawStdio['line'] = (satisfies, what) =>
    within(
      new Promise((resolve) => {
        const check = (): void => {
          const found = lines.map((text) => JSON.parse(text) as JSONRPCMessage).find(satisfies);
          if (found === undefined) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      }),
      what,
    );
  return {
    lines,
    write,
    async request(id, method, params = {}) {
      send({ id, method, params: inEra(params) });
      // Questions of the server have ids of its own.
      const answers = (message: JSONRPCMessage): boolean =>
        'id' in message && message.id === id && !('method' in message);
      return (await line(answers, `the answer to ${method}`)) as Answer;
    },
    notify: (method, params = {}) => send({ method, params: inEra(params) }),
    line,
  };
}

/** Serves `vitrine serve <args>` over a pipe in this process, for tests that need no process. */
export function startPipe(era: Era, args: readonly string[]): RawLines & AsyncDisposable {
  const server = runServe(args);
  const output = createInterface({ input: server.output });
  return {
    ...rawLines(era, server.input, output),
    async [Symbol.asyncDispose]() {
      server.input.end();
      await server.stop();
      output.close();
    },
  };
}

/** Starts `vitrine serve <args>` with raw pipes. */
export function startStdio(era: Era, args: readonly string[], command: readonly string[] = [CLI, 'serve']): RawStdio {
  const child = spawn(process.execPath, [...command, ...args], { cwd: ROOT, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => {});
  const output = createInterface({ input: child.stdout });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  return {
    ...rawLines(era, child.stdin, output),
    pid: child.pid ?? 0,
    stderr: () => stderr,
    end: () => void child.stdin.end(),
    hangUp: () => void child.stdout.destroy(),
    kill: (signal) => void child.kill(signal),
    exited: within(exited, 'the end of the process'),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
      output.close();
    },
  };
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | readonly string[];
}

/** Sends one HTTP request with exactly these headers, `Host` included. A body in several pieces is sent in chunks. */
export async function http(
  url: string,
  { method = 'POST', headers = {}, body }: RawRequest = {},
): Promise<RawResponse> {
  const pieces = body === undefined ? [] : typeof body === 'string' ? [body] : body;
  const sized = typeof body === 'string' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
  const sending = request(url, { method, headers: { ...sized, ...headers }, agent: false });
  const answered = once(sending, 'response') as Promise<[import('node:http').IncomingMessage]>;
  // A server that refuses a request may close the connection while the rest is being sent.
  sending.on('error', () => {});
  for (const piece of pieces) sending.write(piece);
  sending.end();
  const [response] = await within(answered, `the response to ${method} ${url}`);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') };
}

export const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const;

/** The JSON-RPC message of a response, which may be JSON or the only event of a stream. */
export function messageOf({ text }: RawResponse): Answer {
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return JSON.parse(data) as Answer;
}

/** Posts one JSON-RPC request of an era. */
export function post(
  url: string,
  era: Era,
  method: string,
  params: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<RawResponse> {
  const inEra = era === 'modern' ? { ...params, _meta: ENVELOPE } : params;
  const ofEra: Record<string, string> =
    era === 'modern' ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method } : {};
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: inEra });
  return http(url, { headers: { ...JSON_HEADERS, ...ofEra, ...headers }, body });
}
