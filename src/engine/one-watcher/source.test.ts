import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type CountedSource,
  createCountedSource,
  type WatchingReplica,
  watchingReplica,
} from '../../../test/replicas/counted-source.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createHub, type Hub } from '../../serving/bus/hub.ts';
import { LEASE_MS, RETRY_MS, TURN_MS } from './source.ts';
import { resourceSubject } from './subject.ts';

const A = resourceSubject('file:///a');

/** Longer than another replica takes to get the lease and watch everything. */
const TAKEN_OVER_MS = LEASE_MS + 2 * TURN_MS;

let hub: Hub;
let source: CountedSource;
let replicas: WatchingReplica[];

beforeEach(() => {
  vi.useFakeTimers();
  hub = createHub();
  source = createCountedSource();
  replicas = [0, 1, 2].map((number) => watchingReplica(number, source, hub));
});

afterEach(async () => {
  const closing = Promise.all(replicas.map((each) => each.close()));
  await vi.advanceTimersByTimeAsync(1_000);
  await closing;
  expect(source.size).toBe(0);
  hub.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const at = (number: number): WatchingReplica => {
  const found = replicas.find((each) => each.number === number);
  if (found === undefined) throw new Error(`There is no replica ${number}`);
  return found;
};

interface Told {
  count: number;
  readonly handle: AsyncDisposable;
}

/** Watches the source in a replica, and counts the events. */
async function watch(number: number, subject = A): Promise<Told> {
  const told = { count: 0 };
  const watching = at(number).shared.watch(subject, () => void told.count++, createContext());
  watching.catch(() => {});
  await vi.advanceTimersByTimeAsync(100);
  return Object.assign(told, { handle: await watching });
}

const all = async (): Promise<Told[]> => [await watch(0), await watch(1), await watch(2)];

/** How many events each watch gets during a function. */
async function toldBy(told: readonly Told[], act: () => unknown, ms = 100): Promise<number[]> {
  const before = told.map(({ count }) => count);
  await act();
  await vi.advanceTimersByTimeAsync(ms);
  return told.map(({ count }, index) => count - (before[index] ?? 0));
}

describe('a source that replicas share', () => {
  it('is watched by one of them, and all hear of a change', async () => {
    const told = await all();
    expect(source.watchers(A)).toEqual([0]);
    expect(await toldBy(told, () => source.change(A))).toEqual([1, 1, 1]);
    expect(replicas.map(({ heard }) => heard.length)).toEqual([0, 1, 1]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(source.watchers(A)).toEqual([0]);
    expect(told.map(({ count }) => count)).toEqual([1, 1, 1]);
  });

  it('is watched for a subscription of another replica, as long as that lasts', async () => {
    const B = resourceSubject('file:///b');
    const one = await watch(0);
    const other = await watch(1, B);
    expect([source.watchers(A), source.watchers(B)]).toEqual([[0], [0]]);
    expect(await toldBy([one, other], () => source.change(B))).toEqual([0, 1]);
    // The replica keeps the lease for the other one.
    await one.handle[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(100);
    expect([source.watchers(A), source.watchers(B)]).toEqual([[], [0]]);
    await other.handle[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(100);
    expect(source.size).toBe(0);
    // No replica has the lease, so the next one takes it.
    await watch(2);
    expect(source.watchers(A)).toEqual([2]);
  });

  it('is watched once, however many watches a replica has', async () => {
    const told = [await watch(0), await watch(0), await watch(1), await watch(1)];
    expect(source.watchers(A)).toEqual([0]);
    await told[2]?.handle[Symbol.asyncDispose]();
    expect(await toldBy(told, () => source.change(A))).toEqual([1, 1, 0, 1]);
  });

  it('reports many changes in a few messages, the last change included', async () => {
    const told = await all();
    const before = told.map(({ count }) => count);
    for (let each = 0; each < 1_000; each++) {
      source.change(A);
      await vi.advanceTimersByTimeAsync(1);
    }
    await vi.advanceTimersByTimeAsync(100);
    expect((told[1]?.count ?? 0) - (before[1] ?? 0)).toBeLessThanOrEqual(1_000 / 50 + 2);
    const twice = (): void => {
      for (let each = 0; each < 2; each++) source.change(A);
    };
    expect(await toldBy(told, twice, 200)).toEqual([2, 2, 2]);
  });

  it('is watched by another replica when the first one is killed, and every watch is told once', async () => {
    const told = await all();
    at(0).kill();
    source.change(A);
    const [, one, two] = await toldBy(told, () => {}, TAKEN_OVER_MS);
    expect([one, two]).toEqual([1, 1]);
    const [holder = 0, ...others] = source.watchers(A);
    expect(others).toEqual([]);
    expect([1, 2]).toContain(holder);
    expect((await toldBy(told, () => source.change(A))).slice(1)).toEqual([1, 1]);
  });

  it('is watched by another replica at once when the first one leaves', async () => {
    const told = await all();
    const [gone] = replicas.splice(0, 1);
    const closing = gone?.close();
    const [, one, two] = await toldBy(told, () => {}, 100);
    await closing;
    expect([one, two]).toEqual([1, 1]);
    expect(source.watchers(A)).toHaveLength(1);
  });

  it('is watched by each replica while the bus is away, and by one again afterwards', async () => {
    const told = await all();
    for (const { faults } of replicas) faults.cut();
    const away = await toldBy(told, () => source.change(A), TAKEN_OVER_MS);
    expect(away.every((count) => count >= 1)).toBe(true);
    expect([...source.watchers(A)].sort()).toEqual([0, 1, 2]);
    expect(await toldBy(told, () => source.change(A))).toEqual([1, 1, 1]);
    const back = await toldBy(
      told,
      () => {
        for (const { faults } of replicas) faults.mend();
      },
      TAKEN_OVER_MS,
    );
    expect(back.every((count) => count >= 1)).toBe(true);
    expect(source.watchers(A)).toHaveLength(1);
    expect(await toldBy(told, () => source.change(A))).toEqual([1, 1, 1]);
  });

  it('loses no change when the watching replica is cut off, nor when another one is', async () => {
    const told = await all();
    for (const number of [0, 1, 2]) {
      at(number).faults.cut();
      const [, ...rest] = await toldBy(told, () => source.change(A), TAKEN_OVER_MS);
      expect(rest.every((count) => count >= 1)).toBe(true);
      const whole = await toldBy(told, () => source.change(A), TAKEN_OVER_MS);
      expect(whole.every((count) => count >= 1)).toBe(true);
      at(number).faults.mend();
      await vi.advanceTimersByTimeAsync(TAKEN_OVER_MS);
      expect(source.watchers(A)).toHaveLength(1);
    }
  });

  it('stays with the holder of the lease, whatever the clock of the machine says', async () => {
    const told = await all();
    for (const jump of [365 * 86_400_000, -2 * 365 * 86_400_000]) {
      vi.setSystemTime(Date.now() + jump);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(source.watchers(A)).toEqual([0]);
      expect(await toldBy(told, () => source.change(A))).toEqual([1, 1, 1]);
    }
  });

  it('is watched by a replica itself if the holder of the lease cannot watch it', async () => {
    source.refuse = (by) => (by === 0 ? new ResourceError('limited', 'Too many') : undefined);
    const B = resourceSubject('file:///b');
    await expect(watch(0, B)).rejects.toThrow('Too many');
    source.refuse = () => undefined;
    await watch(0, B);
    source.refuse = (by) => (by === 0 ? new ResourceError('limited', 'Too many') : undefined);
    const one = await watch(1);
    expect(source.watchers(A)).toEqual([1]);
    expect(await toldBy([one], () => source.change(A))).toEqual([1]);
    source.refuse = () => new ResourceError('not-found', 'Nothing there');
    await expect(watch(2)).rejects.toThrow('Nothing there');
    // Later the holder of the lease can, and is asked again.
    source.refuse = () => undefined;
    await vi.advanceTimersByTimeAsync(2 * RETRY_MS);
    expect(source.watchers(A)).toEqual([0]);
    expect(await toldBy([one], () => source.change(A))).toEqual([1]);
  });

  it('is watched by a replica itself until the holder of the lease has answered', async () => {
    const one = await watch(0);
    at(0).faults.delay();
    const watching = at(1).shared.watch(A, () => {}, createContext());
    await vi.advanceTimersByTimeAsync(2_500);
    const handle = await watching;
    expect([...source.watchers(A)].sort()).toEqual([0, 1]);
    at(0).faults.mend();
    await vi.advanceTimersByTimeAsync(100);
    expect(source.watchers(A)).toEqual([0]);
    await handle[Symbol.asyncDispose]();
    await one.handle[Symbol.asyncDispose]();
  });

  it('is not watched for a caller that leaves while it waits', async () => {
    await watch(0);
    at(0).faults.delay();
    const giving = new AbortController();
    const watching = at(1).shared.watch(A, () => {}, createContext({ signal: giving.signal }));
    watching.catch(() => {});
    await vi.advanceTimersByTimeAsync(100);
    giving.abort(new Error('gone'));
    await expect(watching).rejects.toThrow('gone');
    await vi.advanceTimersByTimeAsync(5_000);
    at(0).faults.mend();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(source.watchers(A)).toEqual([0]);
  });

  it('needs few messages: thousands of subscriptions are taken over', async () => {
    const subjects = Array.from({ length: 3_000 }, (_, each) => resourceSubject(`file:///${each}`));
    const told = new Set<string>();
    await watch(0);
    const watching = [1, 2].flatMap((number) =>
      subjects.map((subject) =>
        at(number).shared.watch(subject, () => told.add(`${number} ${subject}`), createContext()),
      ),
    );
    await vi.advanceTimersByTimeAsync(5_000);
    await Promise.all(watching);
    expect(source.size).toBe(subjects.length + 1);
    at(0).kill();
    await vi.advanceTimersByTimeAsync(TAKEN_OVER_MS + 5_000);
    expect(source.size).toBe(subjects.length);
    expect(told.size).toBe(2 * subjects.length);
    expect(replicas.slice(1).map(({ faults }) => faults.bus.state().dropped)).toEqual([0, 0]);
  });
});
