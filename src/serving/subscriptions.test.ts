/** The subscriptions of one connection are counted and limited, and all of them end with the connection. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../test/e2e/waiting.ts';
import { type Engine, startEngine } from '../../test/security/engine.ts';
import { refusal, refused } from '../../test/security/served.ts';
import { createContext } from '../core/context.ts';
import { type SubscriptionSink, Subscriptions } from './subscriptions.ts';

const A = 'file:///a.txt';
const B = 'file:///b.txt';
const ctx = createContext();

let engine: Engine;
let told: string[];
let sink: SubscriptionSink;

beforeEach(async () => {
  engine = await startEngine();
  told = [];
  sink = {
    updated: (uri) => void told.push(uri),
    listChanged: (list) => void told.push(list),
  };
});

afterEach(() => engine[Symbol.asyncDispose]());

const make = (limit?: number): Subscriptions => new Subscriptions(engine.vitrine, sink, limit);

const watches = (): number => engine.vitrine.changes.size;

/** Makes one more change, and resolves when it has been reported, so that all earlier changes have been, too. */
async function toldAll(): Promise<void> {
  const probe = make();
  const before = told.length;
  await probe.addList('resources', ctx);
  await engine.folder.write(`probe-${crypto.randomUUID()}`, '');
  await until(() => told.slice(before).includes('resources'), 'the probe');
  await probe.close();
}

describe('subscriptions', () => {
  it('report changes under the URI that the client subscribed to, as it was spelled', async () => {
    const subscriptions = make();
    await subscriptions.add(A, ctx);
    await subscriptions.add('file:///%61.txt', ctx);
    await subscriptions.add('FILE:///a.txt', ctx);
    await engine.folder.write('a.txt', 'new');
    await until(() => told.length === 3, 'three updates');
    expect([...told].sort()).toEqual(['FILE:///a.txt', 'file:///%61.txt', A]);
    await subscriptions.close();
    expect(watches()).toBe(0);
  });

  it('are counted: each is removed once', async () => {
    const subscriptions = make();
    await subscriptions.add(A, ctx);
    await subscriptions.add(A, ctx);
    expect(watches()).toBe(1);
    await subscriptions.remove(A);
    expect(watches()).toBe(1);
    await engine.folder.write('a.txt', 'new');
    await until(() => told.length > 0, 'the update');
    await subscriptions.remove(A);
    expect(watches()).toBe(0);
    await subscriptions.remove(A);
    await subscriptions.add(A, ctx);
    expect(watches()).toBe(1);
    await subscriptions.close();
  });

  it('report nothing more after they were removed', async () => {
    const subscriptions = make();
    await subscriptions.add(A, ctx);
    await subscriptions.add(B, ctx);
    await engine.folder.write('a.txt', 'new');
    await subscriptions.remove(A);
    const before = told.filter((uri) => uri === A).length;
    await engine.folder.write('a.txt', 'newer');
    await engine.folder.write('b.txt', 'new');
    await until(() => told.includes(B), 'the other update');
    expect(told.filter((uri) => uri === A).length).toBe(before);
    await subscriptions.close();
  });

  it('to a list share one watch, and report its changes', async () => {
    const subscriptions = make();
    await subscriptions.addList('resources', ctx);
    await subscriptions.addList('resources', ctx);
    await engine.folder.write('new.txt', '');
    await until(() => told.includes('resources'), 'the change of the list');
    expect(watches()).toBe(1);
    await subscriptions.close();
    expect(watches()).toBe(0);
  });

  it.each(['file:///missing', 'file:///../a.txt', 'file:///.hidden', 'other:x', '', 'x'.repeat(70_000)])(
    'to a missing resource or an invalid URI are refused, and leave no watch: %#',
    async (uri) => {
      const subscriptions = make();
      expect(await refused(subscriptions.add(uri, ctx))).toMatch(/^(?:not-found|invalid)$/);
      expect(watches()).toBe(0);
      await subscriptions.remove(uri);
      await subscriptions.close();
    },
  );
});

describe('limits [SEC-RES-4]', () => {
  it('hold for one connection, also when many ask at once', async () => {
    const subscriptions = make(2);
    const uris = [A, B, 'file:///sub', 'file:///sub/c.txt', 'file:///'];
    const outcomes = await Promise.allSettled(uris.map((uri) => subscriptions.add(uri, ctx)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(2);
    expect(watches()).toBe(2);
    const error = await refusal(subscriptions.add('file:///', ctx));
    expect([error.code, error.retryable, error.details]).toEqual(['limited', true, { limit: 2 }]);
    await subscriptions.close();
    expect(watches()).toBe(0);
  });

  it('have room for another one after one was removed', async () => {
    const subscriptions = make(1);
    await subscriptions.add(A, ctx);
    expect(await refused(subscriptions.add(B, ctx))).toBe('limited');
    // A second subscription to the same URI does not count.
    await subscriptions.add(A, ctx);
    await subscriptions.remove(A);
    await subscriptions.remove(A);
    await subscriptions.add(B, ctx);
    await subscriptions.close();
  });

  it('hold for all connections together, and a refusal does not affect the others', async () => {
    await using small = await startEngine(undefined, { maxWatches: 2 });
    const [one, other] = [new Subscriptions(small.vitrine, sink), new Subscriptions(small.vitrine, sink)];
    await one.add(A, ctx);
    await one.add(B, ctx);
    expect(await refused(other.add('file:///', ctx))).toBe('limited');
    // A URI that is watched already costs nothing.
    await other.add(A, ctx);
    await one.close();
    expect(small.vitrine.changes.size).toBe(1);
    await other.add('file:///', ctx);
    await other.close();
    expect(small.vitrine.changes.size).toBe(0);
  });
});

describe('the end of a connection', () => {
  it('ends everything, and may be requested twice', async () => {
    const subscriptions = make();
    await Promise.all([subscriptions.add(A, ctx), subscriptions.add(B, ctx), subscriptions.addList('resources', ctx)]);
    expect(watches()).toBe(3);
    await Promise.all([subscriptions.close(), subscriptions.close()]);
    expect(watches()).toBe(0);
    const before = told.length;
    await engine.folder.write('a.txt', 'new');
    await toldAll();
    expect(told.slice(before).filter((each) => each === A)).toEqual([]);
  });

  it('ends a subscription that is being added', async () => {
    const subscriptions = make();
    const door = engine.shutDoor();
    const adding = Promise.allSettled([
      subscriptions.add(A, ctx),
      subscriptions.add(A, ctx),
      subscriptions.addList('resources', ctx),
    ]);
    await until(() => door.waiting > 0, 'watches that wait');
    const closing = subscriptions.close();
    door.open();
    await Promise.all([adding, closing]);
    await until(() => watches() === 0, 'the end of all watches');
  });

  it('leaves no watch of a subscription that is added later', async () => {
    const subscriptions = make();
    await subscriptions.close();
    await Promise.allSettled([subscriptions.add(A, ctx), subscriptions.addList('resources', ctx)]);
    await until(() => watches() === 0, 'the end of all watches');
  });

  it('ends a subscription that is being removed at the same time', async () => {
    const subscriptions = make();
    await subscriptions.add(A, ctx);
    await subscriptions.add(A, ctx);
    await Promise.all([subscriptions.remove(A), subscriptions.close(), subscriptions.remove(A)]);
    expect(watches()).toBe(0);
  });

  it('reports no changes that come during it', async () => {
    const subscriptions = make();
    await subscriptions.add(A, ctx);
    await engine.folder.write('a.txt', 'new');
    await subscriptions.close();
    const before = told.length;
    await toldAll();
    expect(told.slice(before).filter((each) => each === A)).toEqual([]);
  });
});

describe('adding and removing at the same time', () => {
  it('leaves no subscription', async () => {
    const subscriptions = make();
    for (let round = 0; round < 50; round++) {
      await Promise.all([
        subscriptions.add(A, ctx).then(() => subscriptions.remove(A)),
        subscriptions.add(A, ctx).then(() => subscriptions.remove(A)),
        subscriptions.add(B, ctx).then(() => subscriptions.remove(B)),
        subscriptions.add('file:///missing', ctx).catch(() => {}),
      ]);
      expect(watches()).toBe(0);
    }
    await subscriptions.close();
  });
});
