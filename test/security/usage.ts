/** A server with limits and principals, and raw requests to it. */
import { createHash } from 'node:crypto';
import { defineTool, type Tool } from '../../src/core/tool.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine, type VitrineOptions } from '../../src/vitrine.ts';
import type { Era } from '../e2e/harness.ts';
import { ENVELOPE, http, INITIALIZE, JSON_HEADERS, messageOf, post, type RawResponse } from '../e2e/raw.ts';

/** The principals that have a token. */
export const PEOPLE = ['ann', 'bob'] as const;
export type Person = (typeof PEOPLE)[number] | undefined;

const tokenOf = (name: string): string => `${name}-token-0123456789abcdef`;
export const as = (person: Person): Record<string, string> =>
  person === undefined ? {} : { authorization: `Bearer ${tokenOf(person)}` };

export interface Used extends AsyncDisposable {
  readonly vitrine: Vitrine;
  readonly url: string;
}

const echo = defineTool({ name: 'echo', inputSchema: { type: 'object' }, run: () => 'said' });

/** Serves a note, and tools, to everybody. */
export async function serveWith(
  limits: VitrineOptions['limits'],
  more: Partial<VitrineOptions> & { readonly tools?: readonly Tool[] } = {},
): Promise<Used> {
  const provider = memoryProvider({ resources: { 'note.txt': { text: 'hello' }, 'other.txt': { text: 'bye' } } });
  const vitrine = createVitrine({
    mounts: [{ name: 'memory', provider, prefix: 'none' }],
    tools: [echo],
    limits: { anonymousIsOne: true, ...limits },
    access: { rules: [{ name: 'all', effect: 'allow' }] },
    ...more,
  });
  const tokens = PEOPLE.map((name) => ({ name, hash: createHash('sha256').update(tokenOf(name)).digest('hex') }));
  let serving: HttpServing;
  try {
    serving = await serveHttp(vitrine, {
      port: 0,
      auth: { resource: 'https://library.example/mcp', tokens, anonymous: true },
    });
  } catch (error) {
    await vitrine.close();
    throw error;
  }
  return {
    vitrine,
    url: serving.url,
    async [Symbol.asyncDispose]() {
      await serving.close();
      await vitrine.close();
    },
  };
}

/** The outcome of a request: its error, if any, and the response. */
export interface Outcome {
  readonly response: RawResponse;
  readonly error: { readonly code: number; readonly data?: Readonly<Record<string, unknown>> } | undefined;
}

export const outcomeOf = (response: RawResponse): Outcome => ({
  response,
  error: messageOf(response).error as Outcome['error'],
});

export type Ask = (method: string, params?: object) => Promise<Outcome>;

/** Sends requests of one person in an era; in the 2025 era in a session of their own. */
export async function asker(url: string, era: Era, person: Person): Promise<Ask> {
  if (era === 'modern') {
    return async (method, params = {}) => {
      const { uri, name } = params as { readonly uri?: string; readonly name?: string };
      const named = name ?? uri;
      const inHeader = method === 'tools/call' || method === 'resources/read' ? { 'mcp-name': named ?? '' } : {};
      return outcomeOf(await post(url, 'modern', method, params, { ...inHeader, ...as(person) }));
    };
  }
  const session = await handshake(url, person);
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25', ...as(person) };
  await http(url, {
    headers: { ...JSON_HEADERS, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  });
  // Requests of one session have different ids.
  let id = 1;
  return async (method, params = {}) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params });
    return outcomeOf(await http(url, { headers: { ...JSON_HEADERS, ...headers }, body }));
  };
}

export const initialize = (url: string, person: Person): Promise<RawResponse> =>
  post(url, 'legacy', 'initialize', INITIALIZE, as(person));

async function handshake(url: string, person: Person): Promise<string> {
  const { headers } = await initialize(url, person);
  return String(headers['mcp-session-id']);
}

/** Posts one raw message of the 2026 era. */
export const postModern = (url: string, message: object, method: string, person: Person): Promise<RawResponse> =>
  http(url, {
    headers: { ...JSON_HEADERS, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...as(person) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...message }),
  });

export { ENVELOPE };
