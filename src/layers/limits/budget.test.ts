import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBudget } from './budget.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount(), 'timers that are left').toBe(0);
  vi.useRealTimers();
});

const never = new AbortController().signal;

/** A promise whose state is visible. */
function seen<T>(work: Promise<T>): { readonly work: Promise<T>; state: 'pending' | 'done' | 'failed' } {
  const one = { work, state: 'pending' as 'pending' | 'done' | 'failed' };
  work.then(
    () => {
      one.state = 'done';
    },
    () => {
      one.state = 'failed';
    },
  );
  return one;
}

describe('a budget of bytes [RES-7]', () => {
  it('gives the available bytes, and lets other reads wait for returned ones, in order', async () => {
    const budget = createBudget({ maxBytes: 100 });
    const first = await budget.reserve(60, never);
    const large = seen(budget.reserve(80, never));
    const small = seen(budget.reserve(10, never));
    await vi.advanceTimersByTimeAsync(0);
    expect([large.state, small.state, budget.held, budget.waiting]).toEqual(['pending', 'pending', 60, 2]);
    first();
    first();
    const release = await large.work;
    expect(budget.held).toBe(90);
    (await small.work)();
    release();
    expect([budget.held, budget.waiting]).toEqual([0, 0]);
  });

  it('gives one read more than it has, if nothing else is held', async () => {
    const budget = createBudget({ maxBytes: 100 });
    const release = await budget.reserve(1_000, never);
    const other = seen(budget.reserve(1, never));
    await vi.advanceTimersByTimeAsync(0);
    expect(other.state).toBe('pending');
    release();
    (await other.work)();
    expect(budget.held).toBe(0);
  });

  it('counts bytes that are in memory already, however many', async () => {
    const budget = createBudget({ maxBytes: 100 });
    const release = budget.take(500);
    const waiting = seen(budget.reserve(1, never));
    await vi.advanceTimersByTimeAsync(0);
    expect(waiting.state).toBe('pending');
    release();
    (await waiting.work)();
  });

  it('refuses a read that has waited for too long, and lets the next one go on', async () => {
    const budget = createBudget({ maxBytes: 100, waitMs: 1_000 });
    const release = await budget.reserve(50, never);
    const large = seen(budget.reserve(80, never));
    await vi.advanceTimersByTimeAsync(600);
    const small = seen(budget.reserve(50, never));
    await vi.advanceTimersByTimeAsync(400);
    await expect(large.work).rejects.toMatchObject({
      code: 'limited',
      details: { limit: 'maxHeldBytes', retryAfterMs: 1_000 },
    });
    (await small.work)();
    release();
    expect([budget.held, budget.waiting]).toEqual([0, 0]);
  });

  it('refuses at once if too many reads wait', async () => {
    const budget = createBudget({ maxBytes: 10, maxWaiting: 1 });
    const release = await budget.reserve(10, never);
    const waiting = budget.reserve(10, never);
    await expect(budget.reserve(1, never)).rejects.toMatchObject({ code: 'limited' });
    release();
    (await waiting)();
  });

  it('forgets a read that was aborted, with the reason, and lets the next one go on', async () => {
    const budget = createBudget({ maxBytes: 10 });
    const release = await budget.reserve(5, never);
    const gone = new AbortController();
    const large = seen(budget.reserve(10, gone.signal));
    const small = seen(budget.reserve(5, never));
    const reason = new Error('gone');
    gone.abort(reason);
    await expect(large.work).rejects.toBe(reason);
    (await small.work)();
    release();
    await expect(budget.reserve(1, gone.signal)).rejects.toBe(reason);
    expect([budget.held, budget.waiting, getEventListeners(gone.signal, 'abort')]).toEqual([0, 0, []]);
  });
});
