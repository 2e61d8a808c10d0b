import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Bus } from '../../core/bus.ts';
import { ResourceError } from '../../core/errors.ts';
import { createHub } from '../../serving/bus/hub.ts';
import { createCounter } from './counter.ts';
import { createSharedCounter, type SharedRates } from './shared-counter.ts';

const KEY = 'ada';

/** Replicas in one process that count together. */
function replicasOf(count: number, most: number, without: SharedRates['without'] = 'local') {
  const limit = { name: 'rates.principal', rate: `${most}/min`, most, seconds: 60 };
  const hub = createHub();
  let whole = true;
  let asked = 0;
  const bus: Pick<Bus, 'whole' | 'memory'> = {
    get whole() {
      return whole;
    },
    memory: {
      ...hub.memory,
      take: (key, wanted, rate) => {
        asked++;
        return whole ? hub.memory.take(key, wanted, rate) : Promise.reject(new ResourceError('unavailable', 'away'));
      },
    },
  };
  const counters = Array.from({ length: count }, () =>
    createSharedCounter(limit, createCounter(limit, 100), 100, { bus, without }),
  );
  return {
    counters,
    asked: () => asked,
    away(is: boolean) {
      whole = !is;
    },
    close() {
      for (const counter of counters) counter.close();
      hub.close();
    },
  };
}

/** Gives how many of the requests pass, each at the given replica. */
async function passed(
  { counters }: ReturnType<typeof replicasOf>,
  requests: number,
  at: (turn: number) => number,
): Promise<number> {
  const turns = Array.from({ length: requests }, (_, turn) => counters[at(turn) % counters.length]);
  const settled = await Promise.allSettled(turns.map((counter) => counter?.take(KEY)));
  return settled.filter(({ status }) => status === 'fulfilled').length;
}

describe('a rate of several replicas', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'Date'] }));
  afterEach(() => void vi.useRealTimers());

  it('lets no more requests pass than one replica would, and hardly fewer, in whatever order they come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 1_500 }),
        fc.array(fc.nat(3), { minLength: 1, maxLength: 20 }),
        async (count, most, spread) => {
          const replicas = replicasOf(count, most);
          try {
            const got = await passed(replicas, most * 2 + 10, (turn) => spread[turn % spread.length] ?? 0);
            expect(got).toBeLessThanOrEqual(most);
            expect(got).toBeGreaterThanOrEqual(most - Math.floor((most * count) / 300));
          } finally {
            replicas.close();
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('gives the time of the next request, and lets as many pass again then', async () => {
    const replicas = replicasOf(3, 10);
    expect(await passed(replicas, 30, (turn) => turn)).toBe(10);
    await expect(replicas.counters[1]?.take(KEY)).rejects.toMatchObject({
      code: 'limited',
      details: { limit: 'rates.principal' },
    });
    vi.advanceTimersByTime(60_001);
    expect(await passed(replicas, 30, (turn) => turn)).toBe(10);
    replicas.close();
  });

  it('asks the bus seldom: for a part at a time, and not again when everything is taken', async () => {
    const replicas = replicasOf(1, 3_000);
    expect(await passed(replicas, 4_000, () => 0)).toBe(3_000);
    expect(replicas.asked()).toBeLessThanOrEqual(302);
    expect(replicas.counters[0]?.left(KEY)).toBe(0);
    replicas.close();
  });

  it('is counted by each replica alone while the bus is away, and together again afterwards', async () => {
    const replicas = replicasOf(2, 10);
    expect(await passed(replicas, 4, (turn) => turn)).toBe(4);
    replicas.away(true);
    expect(await passed(replicas, 40, (turn) => turn)).toBe(20);
    replicas.away(false);
    expect(await passed(replicas, 40, (turn) => turn)).toBe(6);
    replicas.close();
  });

  it('refuses all requests while the bus is away if configured, and says why', async () => {
    const replicas = replicasOf(2, 10, 'refuse');
    replicas.away(true);
    expect(replicas.counters[0]?.left(KEY)).toBe(0);
    await expect(replicas.counters[0]?.take(KEY)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('the bus for that is away; try again later'),
    });
    replicas.away(false);
    expect(await passed(replicas, 20, (turn) => turn)).toBe(10);
    replicas.close();
  });
});
