/** Clients that behave well and badly. Each act ends when the client has what it wants, or is gone. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { expect } from 'vitest';
import { serveStdio } from '../../src/serving/stdio/index.ts';
import { ENVELOPE, http, INITIALIZE, JSON_HEADERS, messageOf, type RawResponse } from '../e2e/raw.ts';
import { within } from '../e2e/waiting.ts';
import { type Place, TOKEN } from './place.ts';

export interface Act {
  readonly name: string;
  run(place: Place): Promise<void>;
}

const NOTE = 'notes+memory:///note.txt';
const READ = { uri: NOTE };
const LEGACY = { 'mcp-protocol-version': '2025-11-25' };
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };

const headersOf = (method: string, { uri, name }: { uri?: string; name?: string } = {}): Record<string, string> => {
  const named = method === 'tools/call' ? name : method === 'resources/read' ? uri : undefined;
  const base = { ...JSON_HEADERS, ...AUTHORIZED, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method };
  return named === undefined ? base : { ...base, 'mcp-name': named };
};
const bodyOf = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: ENVELOPE } });

const modern = (place: Place, method: string, params: { uri?: string; name?: string } & object = {}) =>
  http(place.url, { headers: headersOf(method, params), body: bodyOf(method, params) });

const reasonOf = (response: RawResponse): unknown =>
  (messageOf(response).error as { data?: { reason?: unknown } } | undefined)?.data?.reason;

interface Session {
  ask(method: string, params?: object): Promise<RawResponse>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Shakes hands in the 2025 era; undefined if there are too many sessions. */
async function openSession(place: Place): Promise<Session | undefined> {
  const post = (body: object, headers: object = {}): Promise<RawResponse> =>
    http(place.url, {
      headers: { ...JSON_HEADERS, ...AUTHORIZED, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const begun = await post({ id: 1, method: 'initialize', params: INITIALIZE });
  const id = begun.headers['mcp-session-id'];
  if (typeof id !== 'string') {
    expect(reasonOf(begun)).toBe('limited');
    return undefined;
  }
  const headers = { ...LEGACY, 'mcp-session-id': id };
  await post({ method: 'notifications/initialized' }, headers);
  let next = 1;
  return { headers, ask: (method, params = {}) => post({ id: ++next, method, params }, headers) };
}

/** Opens an event stream, waits for its first bytes if a body was sent, and drops it. */
async function dropStream(place: Place, method: string, headers: object, body?: string): Promise<void> {
  const sending = request(place.url, { method, headers: { ...AUTHORIZED, ...headers }, agent: false });
  sending.on('error', () => {});
  const answered = once(sending, 'response') as Promise<[import('node:http').IncomingMessage]>;
  sending.end(body);
  const [response] = await within(answered, 'the head of a stream');
  response.on('error', () => {});
  if (body !== undefined && response.statusCode === 200) await within(once(response, 'data'), 'the first event');
  sending.destroy();
}

/** Writes to the port, and disconnects. */
async function leave(place: Place, text: string): Promise<void> {
  const { hostname, port } = new URL(place.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(text);
  await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  await once(socket, 'close');
}

export const ACTS: readonly Act[] = [
  {
    name: 'reads in the 2026 era, from each mount',
    async run(place) {
      for (const uri of [NOTE, 'docs+file:///a.txt', 'far+file:///a.txt']) {
        expect(messageOf(await modern(place, 'resources/read', { uri })).result).toMatchObject({ contents: [{ uri }] });
      }
    },
  },
  {
    name: 'lists to the end',
    async run(place) {
      let cursor: string | undefined;
      do {
        const params = cursor === undefined ? {} : { cursor };
        const { result } = messageOf(await modern(place, 'resources/list', params));
        expect(result?.resources).toBeInstanceOf(Array);
        cursor = result?.nextCursor as string | undefined;
      } while (cursor !== undefined);
    },
  },
  {
    name: 'calls tools, one of them too often',
    async run(place) {
      const call = (name: string) => modern(place, 'tools/call', { name, arguments: {} } as { name: string });
      expect(messageOf(await call('echo')).error).toBeUndefined();
      const burst = await Promise.all(Array.from({ length: 8 }, () => call('seldom')));
      const refused = burst.filter((each) => reasonOf(each) === 'limited');
      expect(refused.length).toBeGreaterThan(0);
      for (const each of refused) expect(Number(each.headers['retry-after'])).toBeGreaterThan(0);
    },
  },
  {
    name: 'asks for what is hidden, denied, and not there',
    async run(place) {
      const hidden = await modern(place, 'resources/read', { uri: 'docs+file:///secret/x.txt' });
      const missing = await modern(place, 'resources/read', { uri: 'docs+file:///secret/y.txt' });
      expect([reasonOf(hidden), reasonOf(missing)]).toEqual(['not-found', 'not-found']);
      const denied = await modern(place, 'tools/call', { name: 'subscribe', arguments: READ } as { name: string });
      expect(messageOf(denied).error ?? messageOf(denied).result?.isError).toBeTruthy();
    },
  },
  {
    name: 'a whole session of the 2025 era',
    async run(place) {
      const session = await openSession(place);
      if (session === undefined) return;
      const read = await session.ask('resources/read', READ);
      // On a very busy machine the session was idle for too long.
      if (read.status !== 404) expect(messageOf(read).result).toMatchObject({ contents: [{ text: 'hello' }] });
      await session.ask('resources/subscribe', READ);
      place.memory.set('note.txt', { text: 'hello' });
      await session.ask('resources/list');
      await http(place.url, { method: 'DELETE', headers: { ...AUTHORIZED, ...session.headers } });
    },
  },
  {
    name: 'a session that is never deleted, with a subscription and a dropped stream',
    async run(place) {
      const session = await openSession(place);
      if (session === undefined) return;
      await session.ask('resources/subscribe', READ);
      await dropStream(place, 'GET', { accept: 'text/event-stream', ...session.headers });
    },
  },
  {
    name: 'a listen stream that is dropped',
    async run(place) {
      const method = 'subscriptions/listen';
      const notifications = { resourceSubscriptions: [NOTE], resourcesListChanged: true };
      await dropStream(place, 'POST', headersOf(method), bodyOf(method, { notifications }));
      place.memory.set('note.txt', { text: 'hello' });
    },
  },
  {
    name: 'half a head',
    run: (place) => leave(place, 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Ty'),
  },
  {
    name: 'half a body',
    run: (place) =>
      leave(
        place,
        `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"jsonrpc":',
      ),
  },
  {
    name: 'a read that nobody waits for',
    run(place) {
      const uri = 'far+file:///a.txt';
      const head = Object.entries(headersOf('resources/read', { uri })).map(([name, value]) => `${name}: ${value}\r\n`);
      const body = bodyOf('resources/read', { uri });
      const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
      return leave(place, `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${head.join('')}${length}\r\n${body}`);
    },
  },
  {
    name: 'a bad token, and none',
    async run(place) {
      for (const authorization of ['Bearer wrong-token-0123456789', 'Basic x', '']) {
        const headers = { ...headersOf('resources/list'), authorization };
        expect((await http(place.url, { headers, body: bodyOf('resources/list', {}) })).status).toBe(401);
      }
    },
  },
  {
    name: 'what is no JSON, and no message',
    async run(place) {
      for (const body of ['{"jsonrpc', '[]', '7', '{"jsonrpc":"2.0","id":1,"method":"no/such"}']) {
        const { status } = await http(place.url, { headers: headersOf('resources/list'), body });
        expect(status).toBeGreaterThanOrEqual(400);
        expect(status).toBeLessThan(500);
      }
    },
  },
  { name: 'a host over stdio in the 2025 era', run: (place) => overStdio(place, false) },
  { name: 'a host over stdio that goes away at once', run: (place) => overStdio(place, true) },
];

async function overStdio({ vitrine }: Place, gone: boolean): Promise<void> {
  const input = new PassThrough();
  const output = new PassThrough();
  const serving = serveStdio(vitrine, { input, output });
  const lines = createInterface({ input: output });
  const say = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  try {
    if (gone) {
      input.write('{"jsonrpc":"2.0","id":1,"meth');
    } else {
      const all = lines[Symbol.asyncIterator]();
      // Other clients write meanwhile, so updates may come before an answer.
      const answered = async (id: number): Promise<void> => {
        for (;;) {
          const { value, done } = await within(all.next(), `the answer to ${id}`);
          if (done === true) throw new Error(`the connection ended before the answer to ${id}`);
          if (String(value).includes(`"id":${id}`)) return;
        }
      };
      say({ id: 1, method: 'initialize', params: INITIALIZE });
      await answered(1);
      say({ method: 'notifications/initialized' });
      say({ id: 2, method: 'resources/subscribe', params: READ });
      await answered(2);
      say({ id: 3, method: 'resources/read', params: READ });
      await answered(3);
    }
  } finally {
    input.end();
    await within(serving.closed, 'the end of a stdio connection');
    lines.close();
    output.destroy();
  }
}
