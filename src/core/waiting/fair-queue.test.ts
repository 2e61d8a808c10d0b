import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ANONYMOUS } from '../context.ts';
import { createFairQueue, type FairQueue, type FairQueueOptions, SERVER } from './fair-queue.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount(), 'timers that are left').toBe(0);
  vi.useRealTimers();
});

const never = new AbortController().signal;
setMaxListeners(0, never);
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

const queueOf = (options: Partial<FairQueueOptions> = {}): FairQueue =>
  createFairQueue({ places: 4, maxWaiting: 100, busy: 'All places are taken', limit: 'places', ...options });

/** Jobs that go on until they are ended, in the order in which they began. */
function scene(options: Partial<FairQueueOptions> = {}) {
  const queue = queueOf(options);
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (caller: string | symbol, name: string, signal = never, bytes = 0): Promise<void> =>
    queue.take(caller, signal, bytes).then((release) => {
      began.push(name);
      ends.set(name, release);
    });
  return {
    queue,
    began,
    ask,
    /** Asks for so many places for one caller. Refusals are ignored. */
    async flood(caller: string | symbol, count: number): Promise<void> {
      for (let n = 0; n < count; n++) void ask(caller, `${String(caller)}${n}`).catch(() => {});
      await settle();
    },
    async end(name: string): Promise<void> {
      ends.get(name)?.();
      await settle();
    },
    async endAll(): Promise<void> {
      queue.close(new Error('over'));
      for (const release of ends.values()) release();
      await settle();
      expect([queue.running, queue.waiting]).toEqual([0, 0]);
    },
  };
}

describe('a fair queue [SEC-TOOL-2]', () => {
  it('a caller alone on a server without authorization has all places', async () => {
    const { queue, flood, endAll } = scene();
    await flood(ANONYMOUS.id, 10);
    await flood(SERVER, 1);
    expect([queue.running, queue.waiting]).toEqual([4, 7]);
    await endAll();
  });

  it.each([
    [2, 1],
    [3, 2],
    [4, 3],
    [8, 6],
    [100, 75],
  ])('of %i places one of several callers has at most %i, and the next caller one at once', async (places, most) => {
    const { queue, flood, began, endAll } = scene({ places, maxWaiting: 1_000 });
    await flood('a', 200);
    expect(queue.running).toBe(most);
    await flood('b', 1);
    expect(began.at(-1)).toBe('b0');
    await endAll();
  });

  it('with one place others come next when the job that has it is over', async () => {
    const { flood, began, end, endAll } = scene({ places: 1 });
    await flood('a', 10);
    await flood('b', 2);
    await flood('c', 1);
    expect(began).toEqual(['a0']);
    for (const name of ['a0', 'b0', 'c0', 'a1', 'b1', 'a2']) await end(name);
    expect(began).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2', 'a3']);
    await endAll();
  });

  it('a caller that fills its share is refused, and others are not; jobs that wait are limited for each caller and in all', async () => {
    const { queue, ask, flood, endAll } = scene({ places: 1, maxWaiting: 8 });
    const refused = { code: 'limited', details: { limit: 'places', retryAfterMs: 1_000 } };
    await flood('a', 3);
    await expect(ask('a', 'a3')).rejects.toMatchObject(refused);
    for (const other of ['b', 'c', 'd']) await flood(other, 2);
    expect(queue.waiting).toBe(8);
    // The queue is full. The first job of each caller may wait all the same, up to twice the limit.
    await flood('e', 2);
    expect(queue.waiting).toBe(9);
    for (let n = 0; n < 20; n++) await flood(`f${n}-`, 1);
    expect(queue.waiting).toBe(16);
    await expect(ask('g', 'g')).rejects.toMatchObject(refused);
    await endAll();
  });

  it('counts the bytes of those who wait, of each and of all', async () => {
    const { queue, ask, endAll } = scene({ places: 1, maxWaitingBytes: 100 });
    const wait = async (caller: string, bytes: number): Promise<void> => {
      void ask(caller, caller, never, bytes).catch(() => {});
      await settle();
    };
    await wait('a', 1);
    await wait('a', 20);
    await wait('a', 6);
    expect(queue.waiting).toBe(1);
    await wait('a', 5);
    expect(queue.waiting).toBe(2);
    await wait('b', 100);
    await wait('b', 1);
    await wait('c', 76);
    expect(queue.waiting).toBe(3);
    await endAll();
  });

  it('a job waits for a limited time, which does not count once it runs', async () => {
    const { ask, flood, end, began, endAll } = scene({ places: 1, maxWaitMs: 500 });
    await flood('a', 1);
    const late = expect(ask('b', 'late')).rejects.toMatchObject({ code: 'limited', message: 'All places are taken' });
    await vi.advanceTimersByTimeAsync(400);
    await flood('b', 1);
    await vi.advanceTimersByTimeAsync(100);
    await late;
    await end('a0');
    // The limit does not apply to jobs that run.
    await vi.advanceTimersByTimeAsync(5_000);
    expect(began).toEqual(['a0', 'b0']);
    await endAll();
  });

  it('a caller that has left waits no more, and does not affect other jobs', async () => {
    const { queue, ask, flood, end, began, endAll } = scene({ places: 1 });
    const gone = new AbortController();
    await flood('a', 2);
    const left = expect(ask('a', 'gone', gone.signal)).rejects.toThrow('gone');
    const alone = expect(ask('b', 'gone', gone.signal)).rejects.toThrow('gone');
    await flood('a', 1);
    gone.abort(new Error('gone'));
    await Promise.all([left, alone]);
    await expect(ask('a', 'late', gone.signal)).rejects.toThrow('gone');
    expect(queue.waiting).toBe(2);
    await end('a0');
    expect(began).toEqual(['a0', 'a1']);
    await endAll();
  });

  it('a place is given back once', async () => {
    const { queue, flood, end, endAll } = scene({ places: 1 });
    await flood('a', 3);
    await end('a0');
    await end('a0');
    expect(queue.running).toBe(1);
    await endAll();
  });

  it('refuses all when it is closed', async () => {
    const { queue, ask, endAll } = scene({ places: 1 });
    await ask('a', 'a');
    const waits = expect(ask('b', 'b')).rejects.toThrow('closed');
    queue.close(new Error('closed'));
    await waits;
    await expect(ask('c', 'c')).rejects.toThrow('closed');
    await endAll();
  });

  it('keeps its promises with any events in any order', async () => {
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ do: fc.constant('ask' as const), caller: fc.constantFrom('a', 'b', 'c', 'd') }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat() }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.array(step, { maxLength: 60 }), async (places, steps) => {
        const queue = queueOf({ places, maxWaiting: 1_000 });
        const most = places === 1 ? 1 : places - Math.max(1, Math.floor(places / 4));
        let count = 0;
        const running: { caller: string; release: () => void }[] = [];
        const waiting: { caller: string; at: number; gone: AbortController }[] = [];
        const begun = new Map<string, number>();
        const runningOf = (caller: string): number => running.filter((each) => each.caller === caller).length;
        for (const each of steps) {
          if (each.do === 'ask') {
            const gone = new AbortController();
            const entry = { caller: each.caller, at: count++, gone };
            waiting.push(entry);
            queue.take(each.caller, gone.signal).then(
              (release) => {
                waiting.splice(waiting.indexOf(entry), 1);
                running.push({ caller: each.caller, release });
                // Jobs of one caller begin in the order in which they came.
                expect(entry.at).toBeGreaterThan(begun.get(each.caller) ?? -1);
                begun.set(each.caller, entry.at);
              },
              () => void waiting.splice(waiting.indexOf(entry), 1),
            );
          } else if (each.do === 'end' && running.length > 0) {
            running.splice(each.which % running.length, 1)[0]?.release();
          } else if (each.do === 'leave' && waiting.length > 0) {
            waiting[each.which % waiting.length]?.gone.abort(new Error('gone'));
          }
          await settle();
          expect([queue.running, queue.waiting]).toEqual([running.length, waiting.length]);
          expect(running.length).toBeLessThanOrEqual(places);
          for (const { caller } of running) expect(runningOf(caller)).toBeLessThanOrEqual(most);
          // Nobody waits who could run.
          if (running.length < places) for (const { caller } of waiting) expect(runningOf(caller)).toBe(most);
        }
        queue.close(new Error('over'));
        for (const { release } of running) release();
        await settle();
        expect([queue.running, queue.waiting]).toEqual([0, 0]);
      }),
      { numRuns: 200 },
    );
  });

  it('a caller among many who flood it has its turn before any of them has two', async () => {
    const { flood, ask, end, began, endAll } = scene({ places: 1, maxWaiting: 1_000 });
    for (const flooder of ['a', 'b', 'c', 'd', 'e']) await flood(flooder, 30);
    const before = began.length;
    void ask('z', 'z').catch(() => {});
    for (let turn = 0; !began.includes('z'); turn++) {
      expect(turn).toBeLessThan(7);
      await end(began.at(-1) ?? '');
    }
    expect(began.slice(before, -1).length).toBeLessThanOrEqual(5);
    await endAll();
  });
});
