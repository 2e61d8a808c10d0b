/** Sends requests of one person to one server, in either era: without a network, or over HTTP with a token. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createEndpoint, serveHttp } from '../../../../src/serving/http/index.ts';
import type { Vitrine } from '../../../../src/vitrine.ts';
import type { Era } from '../../../e2e/harness.ts';
import { ENVELOPE, INITIALIZE, JSON_HEADERS } from '../../../e2e/raw.ts';
import type { Ask, Reply } from '../asking.ts';
import { PEOPLE, type Person } from './things.ts';

export interface Asker {
  readonly era: Era;
  readonly ask: Ask;
  /** Subscribes to the resources, and collects the messages about them. */
  listen(uris: readonly string[]): Promise<Listening>;
}

/** The stream of a subscription. */
export interface Listening {
  /** All messages so far, in their order. */
  text(): string;
  /** Resolves with whether the message came before the stream or the time ended. */
  came(text: string, ms: number): Promise<boolean>;
  close(): Promise<void>;
}

/** How requests reach the server. */
export type Reach = (vitrine: Vitrine, person: Person, era: Era) => Promise<AsyncDisposable & Asker>;

/** Reaches the server by `fetch` in this process, which names the person as the principal. */
export const withoutNetwork: Reach = async (vitrine, { principal }, era) => {
  const endpoint = createEndpoint(vitrine);
  const send: Send = (init) => {
    const headers = { host: '127.0.0.1', ...init.headers };
    return endpoint.fetch(new Request('http://127.0.0.1/mcp', { ...init, headers }), { principal });
  };
  return { ...(await askerOf(send, era)), [Symbol.asyncDispose]: () => endpoint.close() };
};

const tokenOf = (name: string): string => `${name}-token-0123456789abcdef`;

export const overHttp: Reach = async (vitrine, { token }, era) => {
  const tokens = PEOPLE.flatMap((person) => person.token ?? []).map(({ name, groups }) => ({
    name,
    groups,
    hash: createHash('sha256').update(tokenOf(name)).digest('hex'),
  }));
  const auth = { resource: 'https://library.example/mcp', anonymous: true, tokens };
  const serving = await serveHttp(vitrine, { port: 0, auth });
  const authorization = token === undefined ? {} : { authorization: `Bearer ${tokenOf(token.name)}` };
  const send: Send = (init) => fetch(serving.url, { ...init, headers: { ...init.headers, ...authorization } });
  return { ...(await askerOf(send, era)), [Symbol.asyncDispose]: () => serving.close() };
};

type Send = (init: RequestInit & { readonly headers: Record<string, string> }) => Promise<Response>;

async function askerOf(send: Send, era: Era): Promise<Asker> {
  let id = 0;
  const post = (headers: Record<string, string>, message: object, signal?: AbortSignal): Promise<Response> =>
    send({
      method: 'POST',
      headers: { ...JSON_HEADERS, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      ...(signal !== undefined && { signal }),
    });
  const session = era === 'legacy' ? await begin(post) : undefined;
  const headersOf = (method: string, params: Readonly<Record<string, unknown>>): Record<string, string> =>
    session ?? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...namedIn(method, params) };
  const bodyOf = (params: Readonly<Record<string, unknown>>): object => {
    const _meta = { ...(params._meta as object | undefined), ...(era === 'modern' && ENVELOPE) };
    return { ...params, ...(Object.keys(_meta).length > 0 && { _meta }) };
  };

  const ask: Ask = async (method, params = {}) => {
    const response = await post(headersOf(method, params), { id: ++id, method, params: bodyOf(params) });
    const text = await response.text();
    const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
    const { result, error } = (data === '' ? {} : JSON.parse(data)) as Pick<Reply, 'result' | 'error'>;
    return { status: response.status, headers: response.headers, text, result, ...(error !== undefined && { error }) };
  };

  return {
    era,
    ask,
    async listen(uris) {
      const gone = new AbortController();
      if (session !== undefined) {
        const headers = { accept: 'text/event-stream', ...session };
        const stream = await opened(() => send({ method: 'GET', headers, signal: gone.signal }));
        for (const uri of uris) await ask('resources/subscribe', { uri });
        return listening(stream, gone);
      }
      const method = 'subscriptions/listen';
      const params = { _meta: ENVELOPE, notifications: { resourceSubscriptions: uris } };
      const stream = await post(headersOf(method, {}), { id: ++id, method, params }, gone.signal);
      const heard = listening(stream, gone);
      await heard.came('acknowledged', 5_000);
      return heard;
    },
  };
}

/** Opens the only stream of a session. The server may notice later than the client that the previous stream has ended. */
async function opened(open: () => Promise<Response>): Promise<Response> {
  for (let left = 500; ; left--) {
    const response = await open();
    if (response.status !== 409 || left === 0) return response;
    await response.text();
    await delay(10);
  }
}

type Post = (headers: Record<string, string>, message: object) => Promise<Response>;

/** Shakes hands in the 2025 era, and gives the headers for requests of the session. */
async function begin(post: Post): Promise<Record<string, string>> {
  const response = await post({}, { id: 0, method: 'initialize', params: INITIALIZE });
  await response.text();
  const session = response.headers.get('mcp-session-id');
  if (session === null) throw new Error('no session was begun');
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  await (await post(headers, { method: 'notifications/initialized' })).text();
  return headers;
}

/** The header that repeats the name in a request, encoded if a header cannot contain the name as it is. */
function namedIn(method: string, params: Readonly<Record<string, unknown>>): Record<string, string> {
  if (!['tools/call', 'prompts/get', 'resources/read'].includes(method)) return {};
  const named = String(params.name ?? params.uri);
  const plain = /^[\x21-\x7e]*$/.test(named);
  return { 'mcp-name': plain ? named : `=?base64?${Buffer.from(named).toString('base64')}?=` };
}

function listening(response: Response, gone: AbortController): Listening {
  let text = '';
  let ended = false;
  let wake = (): void => {};
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const read = (async () => {
    for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
      text += next.value;
      wake();
    }
  })()
    .catch(() => {})
    .finally(() => {
      ended = true;
      wake();
    });
  return {
    text: () => text,
    async came(wanted, ms) {
      const until = performance.now() + ms;
      while (!text.includes(wanted) && !ended && performance.now() < until) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, until - performance.now());
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      return text.includes(wanted);
    },
    async close() {
      gone.abort();
      await reader?.cancel().catch(() => {});
      await read;
    },
  };
}
