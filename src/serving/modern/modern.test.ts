/** Listen streams: what they hold, whom they tell, and that nothing is left of those that end, however they end. */
import { AsyncResource } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENVELOPE, JSON_HEADERS } from '../../../test/e2e/raw.ts';
import { until, within } from '../../../test/e2e/waiting.ts';
import { type Engine, startEngine } from '../../../test/security/engine.ts';
import { type EventStream, eventsOf, tellsOf } from '../../../test/security/events.ts';
import { SILENT } from '../../core/context.ts';
import { createModern, type Modern } from './index.ts';

let engine: Engine;
let modern: Modern;

beforeEach(async () => {
  engine = await startEngine();
  modern = createModern(engine.vitrine, SILENT, { maxStreams: 3 });
});

afterEach(async () => {
  await modern.close();
  await engine[Symbol.asyncDispose]();
});

interface Asked {
  readonly response: Promise<Response>;
  readonly abort: () => void;
}

let lastId = 0;

/** Asks for a stream, as the HTTP server would hand it on. */
function ask(
  notifications: unknown,
  more: { id?: unknown; headers?: Record<string, string>; meta?: object } = {},
): Asked {
  const controller = new AbortController();
  const body = {
    jsonrpc: '2.0',
    id: more.id ?? ++lastId,
    method: 'subscriptions/listen',
    params: { notifications, _meta: more.meta ?? ENVELOPE },
  };
  const headers = {
    ...JSON_HEADERS,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'subscriptions/listen',
    ...more.headers,
  };
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal: controller.signal };
  const response = modern.handle(new Request('http://127.0.0.1/mcp', init), body);
  response.catch(() => {});
  return { response, abort: () => controller.abort() };
}

const A = 'file:///a.txt';
const B = 'file:///b.txt';

interface Stream extends EventStream {
  abort(): void;
  /** What was acknowledged. */
  readonly honoured: object | undefined;
}

async function listen(notifications: object): Promise<Stream> {
  const { response, abort } = ask(notifications);
  const events = eventsOf(await within(response, 'the stream'));
  const acknowledged = await events.until(
    (message) => 'method' in message && message.method === 'notifications/subscriptions/acknowledged',
    'the acknowledgement',
  );
  const honoured = 'params' in acknowledged ? (acknowledged.params?.notifications as object | undefined) : undefined;
  return { ...events, abort, honoured };
}

const on = (...uris: string[]): object => ({ resourceSubscriptions: uris });

const nothingIsWatched = (): Promise<unknown> =>
  until(() => engine.vitrine.changes.size === 0, 'the end of all watches');

describe('a stream', () => {
  it('is told of what it asked for, and only of that', async () => {
    const one = await listen(on(A));
    const other = await listen(on(B));
    const list = await listen({ resourcesListChanged: true });
    await engine.folder.write('a.txt', 'new');
    await one.until(tellsOf(A), 'the update of a');
    await engine.folder.write('b.txt', 'new');
    await other.until(tellsOf(B), 'the update of b');
    await engine.folder.write('c.txt', 'new');
    await list.until((message) => 'method' in message && message.method.endsWith('resources/list_changed'), 'the list');
    const about = ({ messages }: EventStream): unknown[] =>
      messages.slice(1).map((message) => ('method' in message ? (message.params?.uri ?? message.method) : message));
    expect(new Set(about(one))).toEqual(new Set([A]));
    expect(new Set(about(other))).toEqual(new Set([B]));
    expect(new Set(about(list))).toEqual(new Set(['notifications/resources/list_changed']));
  });

  it('shares a watch with others, and each is told once of each change', async () => {
    const one = await listen(on(A));
    const other = await listen(on(A));
    expect(engine.vitrine.changes.size).toBe(1);
    await engine.folder.write('a.txt', 'new');
    await Promise.all([one.until(tellsOf(A), 'the update'), other.until(tellsOf(A), 'the update')]);
    // Told by a later change that nothing is on its way any more.
    const last = await listen(on(B));
    await engine.folder.write('b.txt', 'new');
    await last.until(tellsOf(B), 'the later update');
    for (const { messages } of [one, other]) expect(messages.filter(tellsOf(A)).length).toBe(1);
  });

  it('that names a URI twice is told once', async () => {
    const stream = await listen(on(A, A, A));
    expect(stream.honoured).toEqual({ resourceSubscriptions: [A] });
    expect(engine.vitrine.changes.size).toBe(1);
    stream.abort();
    await nothingIsWatched();
  });

  it('goes on when another one with the same URI ends', async () => {
    const one = await listen(on(A));
    const other = await listen(on(A));
    one.abort();
    await one.ended;
    await engine.folder.write('a.txt', 'new');
    await other.until(tellsOf(A), 'the update');
    expect(one.messages.filter(tellsOf(A))).toEqual([]);
    other.abort();
    await nothingIsWatched();
  });

  it('carries the id that its client gave it, and those of two clients may be the same', async () => {
    const first = eventsOf(await ask(on(A), { id: 'same' }).response);
    const second = eventsOf(await ask(on(B), { id: 'same' }).response);
    await engine.folder.write('a.txt', 'new');
    await first.until(tellsOf(A), 'the update of a');
    await engine.folder.write('b.txt', 'new');
    await second.until(tellsOf(B), 'the update of b');
    expect(first.messages.some(tellsOf(B))).toBe(false);
    expect(second.messages.some(tellsOf(A))).toBe(false);
    await Promise.all([first.cancel(), second.cancel()]);
    await nothingIsWatched();
  });
});

describe('nothing is left of a stream', () => {
  const everything = { resourcesListChanged: true, resourceSubscriptions: [A, B, 'file:///', 'file:///sub/c.txt'] };

  it('whose client goes away', async () => {
    const stream = await listen(everything);
    expect(engine.vitrine.changes.size).toBe(5);
    stream.abort();
    await nothingIsWatched();
  });

  it('whose client stops reading', async () => {
    const stream = await listen(everything);
    await stream.cancel();
    await nothingIsWatched();
  });

  it('that was given up while it was made ready', async () => {
    const door = engine.shutDoor();
    const { response, abort } = ask(everything);
    await until(() => door.waiting > 0, 'watches that wait');
    abort();
    door.open();
    await response.catch(() => {});
    await nothingIsWatched();
  });

  it('that was given up while it was made ready, and is read all the same', async () => {
    const door = engine.shutDoor();
    const { response, abort } = ask(on(A));
    await until(() => door.waiting > 0, 'watches that wait');
    abort();
    door.open();
    const settled = await response.then(eventsOf, () => undefined);
    await settled?.ended;
    await nothingIsWatched();
    await engine.folder.write('a.txt', 'new');
    expect(settled?.messages.some(tellsOf(A)) ?? false).toBe(false);
  });

  it('that was given up before it was asked for', async () => {
    const { response, abort } = ask(on(A));
    abort();
    await response.catch(() => {});
    await nothingIsWatched();
  });

  it('that there is no room for', async () => {
    const streams = [await listen(on(A)), await listen(on(A)), await listen(on(A))];
    const refused = await (await ask(on(A, B)).response).json();
    expect(refused).toMatchObject({ error: { code: -32603 } });
    await until(() => engine.vitrine.changes.size === 1, 'the end of the watches of the refused stream');
    streams[0]?.abort();
    await streams[0]?.ended;
    const next = await listen(on(B));
    for (const stream of [...streams, next]) stream.abort();
    await nothingIsWatched();
  });

  it.each<[string, unknown, Parameters<typeof ask>[1]]>([
    ['asks for nothing', {}, {}],
    ['asks for nothing that there is', on('file:///missing', 'other:x'), {}],
    ['does not say what it asks for', undefined, {}],
    ['asks for it in a list', [A], {}],
    ['asks for it in a word', 'all', {}],
    ['asks for what is no URI', { resourceSubscriptions: [A, 17] }, {}],
    ['asks for one URI without a list', { resourceSubscriptions: A }, {}],
    ['says yes in a word', { resourcesListChanged: 'yes', resourceSubscriptions: [A] }, {}],
    ['does not say who it is', on(A), { meta: {} }],
    [
      'speaks another revision',
      on(A),
      { meta: { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2030-01-01' } },
    ],
    ['says another revision beside', on(A), { headers: { 'mcp-protocol-version': '2030-01-01' } }],
    ['says another method beside', on(A), { headers: { 'mcp-method': 'resources/read' } }],
    ['cannot take a stream', on(A), { headers: { accept: 'text/html' } }],
    ['has no id', on(A), { id: null }],
    ['has an id that is none', on(A), { id: {} }],
  ])('whose request %s', async (_what, notifications, more) => {
    const { response, abort } = ask(notifications, more);
    const settled = await within(response, 'an answer');
    // Some of these are answered with a stream that ends at once, or that has nothing to tell.
    abort();
    await settled.body?.cancel().catch(() => {});
    await nothingIsWatched();
  });

  it('when the server ends: it ends in good order', async () => {
    const streams = [await listen(everything), await listen(on(B))];
    await modern.close();
    for (const stream of streams) {
      await within(stream.ended, 'the end of the stream');
      expect(stream.messages.at(-1)).toMatchObject({ result: { resultType: 'complete' } });
    }
    await nothingIsWatched();
  });

  it('when servers with streams come and go: no promise of the process carries more along', async () => {
    const carried = (): number => Object.getOwnPropertySymbols(new AsyncResource('carried')).length;
    await listen(on(A));
    const before = carried();
    for (const _ of [1, 2, 3]) {
      await modern.close();
      modern = createModern(engine.vitrine, SILENT);
      await listen(on(A));
    }
    expect(carried()).toBe(before);
  });

  it('when the server ends while it is made ready', async () => {
    const door = engine.shutDoor();
    const { response } = ask(everything);
    await until(() => door.waiting > 0, 'watches that wait');
    const closed = modern.close();
    door.open();
    await closed;
    expect((await response).status).toBe(503);
    await nothingIsWatched();
  });
});
