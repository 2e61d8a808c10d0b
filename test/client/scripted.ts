/** A server of the official SDK, over HTTP and for both eras, with the answers of a test. It does not know SEP-2093. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { createMcpHandler, ProtocolError, Server } from '@modelcontextprotocol/server';
import { z } from 'zod';

export type Params = Readonly<Record<string, unknown>>;

/** The answer to each method: a result, or an error that is thrown. Methods without an answer do not exist. */
export type Answers = Readonly<Record<string, (params: Params, signal: AbortSignal) => object | Promise<object>>>;

export interface Scripted extends AsyncDisposable {
  readonly url: string;
  /** Connects without a socket, for thousands of requests, because HTTP would take most of their time. */
  readonly fetch: typeof globalThis.fetch;
  /** The requests so far: methods and their parameters without `_meta`. */
  readonly asked: readonly { readonly method: string; readonly params: Params }[];
  /** How often a method was requested. */
  count(method: string): number;
}

const loose = z.looseObject({});

/** @param capabilities of the server; resources, by default */
export async function scripted(
  answers: Answers,
  capabilities: Readonly<Record<string, unknown>> = { resources: {} },
): Promise<Scripted> {
  const asked: { method: string; params: Params }[] = [];
  return serving(() => {
    const server = new Server({ name: 'scripted', version: '1' }, { capabilities });
    for (const [method, answer] of Object.entries(answers)) {
      server.setRequestHandler(method as 'resources/list', { params: loose, result: loose }, async (params, ctx) => {
        const { _meta, ...plain } = params as Params;
        asked.push({ method, params: plain });
        return (await answer(params as Params, ctx.mcpReq.signal)) as never;
      });
    }
    return server;
  }, asked);
}

/** Serves a server of the official SDK over HTTP, for both eras. */
export async function serving(
  make: Parameters<typeof createMcpHandler>[0],
  asked: Scripted['asked'] = [],
): Promise<Scripted> {
  const handler = createMcpHandler(make);
  return served(
    (request) => handler.fetch(request),
    asked,
    () => handler.close(),
  );
}

/** Listens at a port. @param asked receives the requests; @param close ends the server */
async function served(
  fetch: (request: Request) => Response | Promise<Response>,
  asked: Scripted['asked'],
  close: () => Promise<void>,
): Promise<Scripted> {
  const server: ServerType = serve({ fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    fetch: async (input, init) => fetch(new Request(input, init)),
    asked,
    count: (method) => asked.filter((each) => each.method === method).length,
    async [Symbol.asyncDispose]() {
      await close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An error as servers send it. */
export const refusal = (code: number, data?: object): ProtocolError => new ProtocolError(code, 'refused', data);

/** The options of a target that speaks one era. */
export const eraOf = {
  legacy: { clientOptions: { versionNegotiation: { mode: 'legacy' } } },
  modern: { clientOptions: { versionNegotiation: { mode: { pin: '2026-07-28' } } } },
} as const;

/** All values of an async iterable. */
export async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of source) found.push(each);
  return found;
}
