/** Sessions of the 2025 era: their number is limited, and they end completely. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { INITIALIZE, JSON_HEADERS } from '../../../test/e2e/raw.ts';
import { until, within } from '../../../test/e2e/waiting.ts';
import { type Engine, startEngine } from '../../../test/security/engine.ts';
import { type EventStream, eventsOf, tellsOf } from '../../../test/security/events.ts';
import { ANONYMOUS, SILENT } from '../../core/context.ts';
import { LongAnswer, wholeText } from '../dispatch/answer.ts';
import { createDispatcher } from '../dispatch/dispatcher.ts';
import { boundedBody } from '../http/bounded-stream.ts';
import { createEventStreams, type EventStreams } from '../http/events.ts';
import type { HttpAnswer } from '../http/exchange.ts';
import { createSessions, type SessionLimits, type Sessions } from './sessions.ts';

const LIMITS: SessionLimits = { maxSessions: 3, idleMs: 60_000 };

let engine: Engine;
let sessions: Sessions;
let streams: EventStreams;

beforeEach(async () => {
  // Fakes only the clock and the intervals, by which sessions end. All other timers run as usual.
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  engine = await startEngine();
  const { vitrine } = engine;
  streams = createEventStreams();
  sessions = createSessions({
    engine: vitrine,
    dispatcher: createDispatcher(vitrine),
    streams,
    log: SILENT,
    limits: LIMITS,
  });
});

afterEach(async () => {
  await sessions.close();
  streams.close();
  vi.useRealTimers();
  await engine[Symbol.asyncDispose]();
});

interface Asked {
  readonly method?: string;
  readonly session?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const partsOf = ({ method, url, headers }: Request) => ({ method, url, headers });

function sent({ status, headers, body }: HttpAnswer, { signal }: Request): Response {
  if (body instanceof LongAnswer) return new Response(wholeText(body), { status });
  if (typeof body === 'object') signal.addEventListener('abort', () => body.leave());
  const content = typeof body === 'object' ? boundedBody(body, Number.POSITIVE_INFINITY) : (body ?? null);
  return new Response(content, { status, ...(headers !== undefined && { headers }) });
}

function ask(body: unknown, { method = 'POST', session, headers = {}, signal }: Asked = {}): Promise<Response> {
  const init = {
    method,
    headers: {
      ...JSON_HEADERS,
      ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  };
  const request = new Request('http://127.0.0.1/mcp', init);
  const http = { ...partsOf(request), signal: request.signal, abort() {} };
  const answer = sessions.handle({ http, principal: ANONYMOUS, expiresAt: undefined }, body);
  return Promise.resolve(answer).then((given) => sent(given, request));
}

const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: INITIALIZE };

const idOf = (response: Response): string | undefined => response.headers.get('mcp-session-id') ?? undefined;

/** Begins a session with a handshake. @returns the id of the session */
async function begin(): Promise<string> {
  const response = await ask(initialize);
  expect(response.status).toBe(200);
  await response.text();
  const session = idOf(response);
  if (session === undefined) throw new Error('there is no session');
  return session;
}

/** One request in a session, and its answer. */
async function request(session: string, method: string, params: object = {}): Promise<Record<string, unknown>> {
  const response = await ask({ jsonrpc: '2.0', id: 1, method, params }, { session });
  const events = eventsOf(response);
  return (await events.until((message) => 'id' in message, `the answer to ${method}`)) as Record<string, unknown>;
}

interface Stream extends EventStream {
  abort(): void;
}

async function openStream(session: string): Promise<Stream> {
  const controller = new AbortController();
  const response = await ask(undefined, { method: 'GET', session, signal: controller.signal });
  expect(response.status).toBe(200);
  const events = eventsOf(response);
  return {
    ...events,
    abort() {
      controller.abort();
      void events.cancel();
    },
  };
}

const nothingIsWatched = (): Promise<unknown> =>
  until(() => engine.vitrine.changes.size === 0, 'the end of all watches');

describe('a session', () => {
  it('begins with initialize, and is known by an id that nobody can guess', async () => {
    const ids = [await begin(), await begin(), await begin()];
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(sessions.size).toBe(3);
  });

  it.each(['', 'x', '../..', '00000000-0000-4000-8000-000000000000', '__proto__', 'constructor'])(
    'that is unknown is answered with 404: %j',
    async (session) => {
      expect((await ask({ jsonrpc: '2.0', id: 1, method: 'ping' }, { session })).status).toBe(404);
      expect((await ask(undefined, { method: 'GET', session })).status).toBe(404);
      expect((await ask(undefined, { method: 'DELETE', session })).status).toBe(404);
      expect(sessions.size).toBe(0);
    },
  );

  it('is needed for everything but the handshake', async () => {
    expect((await ask({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(400);
    expect((await ask(undefined, { method: 'GET' })).status).toBe(400);
    expect((await ask(undefined, { method: 'DELETE' })).status).toBe(400);
  });

  it('does not begin again within another', async () => {
    const session = await begin();
    const again = await ask(initialize, { session });
    expect(again.status).toBe(400);
    expect(sessions.size).toBe(1);
  });

  it('gets the updates of its own subscriptions, and not those of others', async () => {
    const [one, other] = [await begin(), await begin()];
    const [toOne, toOther] = [await openStream(one), await openStream(other)];
    expect(await request(one, 'resources/subscribe', { uri: 'file:///a.txt' })).toHaveProperty('result');
    expect(await request(other, 'resources/subscribe', { uri: 'file:///b.txt' })).toHaveProperty('result');
    await engine.folder.write('a.txt', 'new');
    await toOne.until(tellsOf('file:///a.txt'), 'the update of a');
    await engine.folder.write('b.txt', 'new');
    await toOther.until(tellsOf('file:///b.txt'), 'the update of b');
    expect(toOne.messages.some(tellsOf('file:///b.txt'))).toBe(false);
    expect(toOther.messages.some(tellsOf('file:///a.txt'))).toBe(false);
    // One session cannot end a subscription of another.
    await request(other, 'resources/unsubscribe', { uri: 'file:///a.txt' });
    await engine.folder.write('a.txt', 'newer');
    await until(() => toOne.messages.filter(tellsOf('file:///a.txt')).length === 2, 'the next update of a');
  });
});

describe('a handshake that is refused leaves nothing behind', () => {
  it.each<[string, unknown, Asked]>([
    ['without parameters', { jsonrpc: '2.0', id: 0, method: 'initialize' }, {}],
    ['as a notification', { jsonrpc: '2.0', method: 'initialize', params: INITIALIZE }, {}],
    ['with others in a batch', [initialize, { jsonrpc: '2.0', id: 1, method: 'ping' }], {}],
    ['twice in a batch', [initialize, { ...initialize, id: 1 }], {}],
    ['whose client does not accept the answer', initialize, { headers: { accept: 'text/html' } }],
    ['that is no JSON-RPC', { method: 'initialize' }, {}],
  ])('%s', async (_what, body, how) => {
    const response = await ask(body, how);
    await response.text();
    if (response.status === 200 && idOf(response) !== undefined) throw new Error('it was not refused');
    expect(sessions.size).toBe(0);
    await nothingIsWatched();
  });

  it('and takes no room from others', async () => {
    for (let round = 0; round < 10; round++) await ask({ jsonrpc: '2.0', id: 0, method: 'initialize' });
    for (let count = 0; count < 3; count++) await begin();
    expect(sessions.size).toBe(3);
  });
});

describe('the number of sessions is bounded [SEC-RES-4]', () => {
  it('also when many handshakes run at once', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => ask(initialize)));
    expect(responses.filter(({ status }) => status === 200).length).toBe(3);
    const refused = responses.filter(({ status }) => status === 503);
    expect(refused.length).toBe(17);
    expect(refused[0]?.headers.get('retry-after')).toBe('60');
    expect(sessions.size).toBe(3);
  });

  it('and those that were unused for long make room for new ones, the longest unused first', async () => {
    const old = await begin();
    vi.advanceTimersByTime(10_000);
    const young = await begin();
    await begin();
    expect((await ask(initialize)).status).toBe(503);
    vi.advanceTimersByTime(49_000);
    await request(young, 'ping');
    vi.advanceTimersByTime(1_000);
    // The oldest session was last used a minute ago, and the sweep has not ended it yet.
    const next = await ask(initialize);
    expect(next.status).toBe(200);
    expect(sessions.size).toBe(3);
    expect((await ask({ jsonrpc: '2.0', id: 1, method: 'ping' }, { session: old })).status).toBe(404);
    expect(await request(young, 'ping')).toHaveProperty('result');
  });

  it('and those with a stream do not make room', async () => {
    const streams = [];
    for (let count = 0; count < 3; count++) streams.push(await openStream(await begin()));
    vi.advanceTimersByTime(59_000);
    expect((await ask(initialize)).status).toBe(503);
    vi.advanceTimersByTime(600_000);
    expect((await ask(initialize)).status).toBe(503);
    streams[0]?.abort();
    vi.advanceTimersByTime(61_000);
    expect((await ask(initialize)).status).toBe(200);
  });
});

describe('a session ends', () => {
  it('when it is not used for a time, and each request counts as a use', async () => {
    const session = await begin();
    for (let minute = 0; minute < 5; minute++) {
      vi.advanceTimersByTime(50_000);
      expect(await request(session, 'ping')).toHaveProperty('result');
    }
    vi.advanceTimersByTime(120_000);
    expect(sessions.size).toBe(0);
    await nothingIsWatched();
  });

  it('not while a stream is open, but a while after that', async () => {
    const session = await begin();
    const stream = await openStream(session);
    vi.advanceTimersByTime(3_600_000);
    expect(sessions.size).toBe(1);
    stream.abort();
    vi.advanceTimersByTime(45_000);
    expect(sessions.size).toBe(1);
    vi.advanceTimersByTime(60_000);
    expect(sessions.size).toBe(0);
  });

  it.each<[string, Asked]>([
    ['that it could not read', { headers: { accept: 'text/html' } }],
    ['of another revision', { headers: { 'mcp-protocol-version': '1999-01-01' } }],
  ])('although it asked for a stream %s', async (_what, how) => {
    const session = await begin();
    const refused = await ask(undefined, { method: 'GET', session, ...how, headers: { ...how.headers } });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    vi.advanceTimersByTime(120_000);
    expect(sessions.size).toBe(0);
  });

  it('although it asked for a second stream, when the first has ended', async () => {
    const session = await begin();
    const first = await openStream(session);
    expect((await ask(undefined, { method: 'GET', session })).status).toBe(409);
    first.abort();
    vi.advanceTimersByTime(120_000);
    expect(sessions.size).toBe(0);
  });

  it('together with its subscriptions', async () => {
    const session = await begin();
    await ask({ jsonrpc: '2.0', method: 'notifications/initialized' }, { session });
    await request(session, 'resources/subscribe', { uri: 'file:///a.txt' });
    await request(session, 'resources/subscribe', { uri: 'file:///' });
    await until(() => engine.vitrine.changes.size === 3, 'the watches');
    vi.advanceTimersByTime(120_000);
    await nothingIsWatched();
  });

  it('with DELETE, and so do its stream and its subscriptions; other sessions go on', async () => {
    const [session, other] = [await begin(), await begin()];
    const stream = await openStream(session);
    await request(session, 'resources/subscribe', { uri: 'file:///a.txt' });
    expect((await ask(undefined, { method: 'DELETE', session })).status).toBe(200);
    await within(stream.ended, 'the end of the stream');
    expect((await ask(undefined, { method: 'DELETE', session })).status).toBe(404);
    expect(sessions.size).toBe(1);
    expect(await request(other, 'ping')).toHaveProperty('result');
    await nothingIsWatched();
  });

  it('with the server: its streams and watches end, and no session begins any more', async () => {
    const session = await begin();
    const stream = await openStream(session);
    await request(session, 'resources/subscribe', { uri: 'file:///a.txt' });
    await sessions.close();
    await within(stream.ended, 'the end of the stream');
    expect(sessions.size).toBe(0);
    await nothingIsWatched();
    expect((await ask(initialize)).status).toBe(503);
    await sessions.close();
  });

  it('with the server, also in the middle of its handshake', async () => {
    const shaking = Promise.all(Array.from({ length: 3 }, () => ask(initialize)));
    await sessions.close();
    await shaking;
    expect(sessions.size).toBe(0);
    await nothingIsWatched();
  });

  it('in the middle of a subscription, which then leaves no watch', async () => {
    const session = await begin();
    const door = engine.shutDoor();
    const subscribing = request(session, 'resources/subscribe', { uri: 'file:///a.txt' });
    subscribing.catch(() => {});
    await until(() => door.waiting > 0, 'a watch that waits');
    await ask(undefined, { method: 'DELETE', session });
    door.open();
    await nothingIsWatched();
  });
});

describe('a session whose client sends `notifications/initialized` several times', () => {
  it('is not notified of one change as many times', async () => {
    const session = await begin();
    const stream = await openStream(session);
    const times = 20;
    for (let round = 0; round < times; round++) {
      await ask({ jsonrpc: '2.0', method: 'notifications/initialized' }, { session });
    }
    const count = (): number =>
      stream.messages.filter((message) => 'method' in message && message.method.endsWith('list_changed')).length;
    await until(async () => {
      await engine.folder.write(`new-${crypto.randomUUID()}`, '');
      return count() > 0;
    }, 'the watch to be in place');
    await request(session, 'resources/subscribe', { uri: 'file:///a.txt' });
    await engine.folder.write('a.txt', 'new');
    await stream.until(tellsOf('file:///a.txt'), 'an update that follows all that');
    const before = count();
    await engine.folder.write('one-more.txt', '');
    await until(() => count() > before, 'the change');
    await engine.folder.write('a.txt', 'newer');
    await until(() => stream.messages.filter(tellsOf('file:///a.txt')).length > 1, 'the later update');
    // The notification of an earlier change may come late.
    expect(count() - before).toBeLessThan(times);
    await ask(undefined, { method: 'DELETE', session });
    await nothingIsWatched();
  });
});
