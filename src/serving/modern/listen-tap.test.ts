/** The transport that makes listens ready: the order of messages is kept, and every end takes back what was made ready. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../test/e2e/waiting.ts';
import { type Engine, startEngine } from '../../../test/security/engine.ts';
import { createContext } from '../../core/context.ts';
import { createSubscriptions, type Subscriptions } from '../subscriptions.ts';
import { ListenTap } from './listen-tap.ts';

const A = 'file:///a.txt';
const B = 'file:///b.txt';

let engine: Engine;
let subscriptions: Subscriptions;
let tap: ListenTap;
let delivered: JSONRPCMessage[];
let sent: JSONRPCMessage[];
let errors: Error[];
let told: string[];
/** The end of the transport that the client writes to. */
let wire: Transport;

beforeEach(async () => {
  engine = await startEngine();
  delivered = [];
  sent = [];
  errors = [];
  told = [];
  wire = {
    start: async () => {},
    send: async (message) => void sent.push(message),
    close: async () => wire.onclose?.(),
  };
  const sink = {
    updated: (uri: string) => void told.push(uri),
    listChanged: () => {},
    promptsChanged: () => {},
    toolsChanged: () => {},
  };
  subscriptions = createSubscriptions(engine.vitrine, sink);
  tap = new ListenTap(wire, subscriptions, () => createContext());
  tap.onmessage = (message) => void delivered.push(message);
  tap.onerror = (error) => void errors.push(error);
  await tap.start();
});

afterEach(async () => {
  await subscriptions.close();
  await engine[Symbol.asyncDispose]();
  expect(errors).toEqual([]);
});

const receive = (message: JSONRPCMessage): void => wire.onmessage?.(message);

const listen = (id: string | number, notifications: unknown): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  method: 'subscriptions/listen',
  params: { notifications } as Record<string, unknown>,
});

const cancel = (requestId: string | number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

const ping = (id: string | number): JSONRPCMessage => ({ jsonrpc: '2.0', id, method: 'ping' });

const on = (...uris: string[]): object => ({ resourceSubscriptions: uris });

const deliveredAre = (count: number): Promise<unknown> => until(() => delivered.length === count, `${count} messages`);
const watchesAre = (count: number): Promise<unknown> =>
  until(() => engine.vitrine.changes.size === count, `${count} watches`);

describe('a listen', () => {
  it('is handed on when its watches are in place, with what can be honoured', async () => {
    const filter = { ...on(A, 'file:///missing', B), resourcesListChanged: true, toolsListChanged: true };
    receive(listen(1, filter));
    await deliveredAre(1);
    expect(engine.vitrine.changes.size).toBe(3);
    expect(delivered[0]).toEqual(
      listen(1, { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: [A, B] }),
    );
    await engine.folder.write('a.txt', 'new');
    await until(() => told.includes(A), 'the update');
  });

  it.each([undefined, null, 'all', [A], { resourceSubscriptions: A }, { resourceSubscriptions: [17] }])(
    'that is malformed is handed on as it is: %j',
    async (notifications) => {
      receive(listen(1, notifications));
      await deliveredAre(1);
      expect(delivered).toEqual([listen(1, notifications)]);
      expect(engine.vitrine.changes.size).toBe(0);
    },
  );

  it('with the id of one that is open is handed on as it is, and takes nothing from that one', async () => {
    receive(listen(1, on(A)));
    receive(listen(1, on(B)));
    await deliveredAre(2);
    expect(delivered[1]).toEqual(listen(1, on(B)));
    expect(engine.vitrine.changes.size).toBe(1);
  });
});

describe('messages', () => {
  it('come at once when nothing is made ready', () => {
    receive(ping(1));
    receive(cancel(7));
    expect(delivered).toEqual([ping(1), cancel(7)]);
  });

  it('that follow a listen wait for it, in their order', async () => {
    const door = engine.shutDoor();
    receive(listen(1, on(A)));
    receive(ping(2));
    receive(listen(3, on(B)));
    receive(ping(4));
    await until(() => door.waiting > 0, 'a watch that waits');
    expect(delivered).toEqual([]);
    door.open();
    await deliveredAre(4);
    expect(delivered.map((message) => ('id' in message ? message.id : undefined))).toEqual([1, 2, 3, 4]);
    receive(ping(5));
    expect(delivered).toHaveLength(5);
  });

  it('go out as they are, and errors and ends come in as they are', async () => {
    let closed = 0;
    tap.onclose = () => void closed++;
    await tap.send(ping(1));
    expect(sent).toEqual([ping(1)]);
    await tap.close();
    expect(closed).toBe(1);
  });
});

describe('what was made ready is taken back', () => {
  it.each<[string, JSONRPCMessage]>([
    ['when the client cancels', cancel(1)],
    ['when it cancels twice', cancel(1)],
  ])('%s', async (_how, message) => {
    receive(listen(1, on(A, B)));
    await deliveredAre(1);
    receive(message);
    receive(message);
    await watchesAre(0);
    expect(delivered).toHaveLength(3);
  });

  it.each<[string, JSONRPCMessage]>([
    ['when the server refuses it', { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no' } }],
    ['when the server ends it', { jsonrpc: '2.0', id: 1, result: {} }],
  ])('%s', async (_how, message) => {
    receive(listen(1, on(A, B)));
    await deliveredAre(1);
    await tap.send(message);
    await watchesAre(0);
    expect(sent).toEqual([message]);
  });

  it('when it is cancelled while it is made ready', async () => {
    const door = engine.shutDoor();
    receive(listen(1, on(A)));
    receive(cancel(1));
    await until(() => door.waiting > 0, 'a watch that waits');
    door.open();
    await deliveredAre(2);
    await watchesAre(0);
  });

  it('when the connection ends while it is made ready', async () => {
    const door = engine.shutDoor();
    receive(listen(1, on(A, B)));
    await until(() => door.waiting > 0, 'a watch that waits');
    const closing = subscriptions.close();
    door.open();
    await closing;
    await watchesAre(0);
  });

  it('and nothing else is: not by answers and cancellations of others', async () => {
    receive(listen(1, on(A)));
    receive(listen('1', on(B)));
    await deliveredAre(2);
    await tap.send({ jsonrpc: '2.0', id: 2, result: {} });
    receive(cancel(3));
    expect(engine.vitrine.changes.size).toBe(2);
    receive(cancel('1'));
    await watchesAre(1);
    await engine.folder.write('a.txt', 'new');
    await until(() => told.includes(A), 'the update');
  });

  it('once: the same URI of another listen goes on', async () => {
    receive(listen(1, on(A)));
    receive(listen(2, on(A)));
    await deliveredAre(2);
    receive(cancel(1));
    await tap.send({ jsonrpc: '2.0', id: 1, result: {} });
    expect(engine.vitrine.changes.size).toBe(1);
    receive(cancel(2));
    await watchesAre(0);
  });
});

it('a request of another revision is refused, on a connection that began with this one', () => {
  const meta = (version: unknown) => ({ 'io.modelcontextprotocol/protocolVersion': version });
  const ask = (id: number, version: unknown): JSONRPCMessage => ({
    jsonrpc: '2.0',
    id,
    method: 'resources/list',
    params: { _meta: meta(version) },
  });
  for (const [id, version] of ['2026-07-28', '1999-01-01', 7].entries()) receive(ask(id, version));
  expect(sent).toEqual([
    {
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32_022,
        message: 'Unsupported protocol version: 1999-01-01',
        data: { supported: ['2026-07-28'], requested: '1999-01-01' },
      },
    },
  ]);
  expect(delivered.map((message) => 'id' in message && message.id)).toEqual([0, 2]);
});
