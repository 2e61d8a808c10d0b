/** A server with kept answers, which gets raw messages in both eras. */
import { readFile } from 'node:fs/promises';
import { expect, vi } from 'vitest';
import type { Principal } from '../../src/core/context.ts';
import { wrapProvider } from '../../src/core/layer.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { createEndpoint, type HttpEndpoint } from '../../src/serving/http/index.ts';
import { createVitrine, type VitrineOptions } from '../../src/vitrine.ts';
import type { Era } from './harness.ts';
import { ENVELOPE, INITIALIZE } from './raw.ts';

export const URI = 'm+memory:///a.md';

/** Stops the clock. Otherwise, on a busy machine, kept answers would be too old before the next request. */
export function stopClock(): void {
  const now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
}

/** The lines of an audit with this text in them, without the fields that differ for each operation. */
export async function auditLines(file: string, text: string): Promise<string[]> {
  return (await readFile(file, 'utf8'))
    .split('\n')
    .filter((line) => line.includes(text))
    .map((line) => line.replace(/"(?:seq|ms)":[^,]*,|"(?:prev|time|requestId|hash|peer)":"[^"]*",?/g, ''));
}

export interface Asking {
  readonly principal?: Principal;
  readonly meta?: object | undefined;
  readonly uri?: string;
  /** The id of the request. Concurrent requests have different ones. */
  readonly id?: number;
}

/** A server of two texts, and the number of their reads and lists. */
export function serve(options: Partial<VitrineOptions> = {}) {
  const memory = memoryProvider({ resources: { 'a.md': { text: '# Brass\n' }, 'b.md': { text: '# Oak\n' } } });
  let reads = 0;
  let lists = 0;
  const counted: ResourceProvider = wrapProvider(memory, {
    read(uri, want, ctx) {
      reads++;
      return memory.read(uri, want, ctx);
    },
    again: (bodies, uri, want, ctx) => memory.again?.(bodies, uri, want, ctx) === true,
    list(uri, page, ctx) {
      lists++;
      return memory.list(uri, page, ctx);
    },
    listAgain: (page, uri, want, ctx) => memory.listAgain?.(page, uri, want, ctx) === true,
  });
  const vitrine = createVitrine({ mounts: [{ name: 'm', provider: counted }], ...options });
  const endpoint = createEndpoint(vitrine);
  const sessions = new Map<string, string>();

  /** The text of the answer; of a 2025 event, its data. */
  async function ask(era: Era, method: string, params: object, { principal, meta, name, id = 7 }: Asked) {
    const sender = principal && { principal };
    const message = (more: object) => ({ id, method, params: { ...params, _meta: { ...more, ...meta } } });
    if (era === 'modern') return post(endpoint, modernHeaders(method, name), message(ENVELOPE), sender);
    const key = principal?.id ?? '';
    const session = sessions.get(key) ?? (await shakeHands(endpoint, sender));
    sessions.set(key, session);
    return post(endpoint, { ...JSON_HEADERS, 'mcp-session-id': session }, message({}), sender);
  }

  return {
    memory,
    vitrine,
    reads: () => reads,
    lists: () => lists,
    read: (era: Era, { meta, uri = URI, ...asking }: Asking = {}) =>
      ask(era, 'resources/read', { uri }, { meta, name: uri, ...asking }),
    tool: (era: Era, args: object, asking: Omit<Asking, 'uri'> = {}, tool = 'read') =>
      ask(era, 'tools/call', { name: tool, arguments: args }, { name: tool, ...asking }),
    list: (era: Era, params: object = {}, asking: Omit<Asking, 'uri'> = {}, method = 'resources/list') =>
      ask(era, method, params, asking),
    async [Symbol.asyncDispose]() {
      await endpoint.close();
      await vitrine.close();
    },
  };
}

/** The options of a request, with the name that a header repeats. */
type Asked = Omit<Asking, 'uri'> & { readonly name?: string };

type Sender = { readonly principal: Principal } | undefined;

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const modernHeaders = (method: string, name?: string) => ({
  ...JSON_HEADERS,
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});

const requestOf = (headers: Record<string, string>, message: object): Request =>
  new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { host: 'localhost', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, ...message }),
  });

async function post(endpoint: HttpEndpoint, headers: Record<string, string>, message: object, sender: Sender) {
  const response = await endpoint.fetch(requestOf(headers, message), sender);
  expect(response.status).toBe(200);
  return (await response.text()).replace(/^event: message\ndata: (.*)\n\n$/s, '$1');
}

async function shakeHands(endpoint: HttpEndpoint, sender: Sender): Promise<string> {
  const response = await endpoint.fetch(requestOf(JSON_HEADERS, { method: 'initialize', params: INITIALIZE }), sender);
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}
