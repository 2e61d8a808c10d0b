import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { inTime, LATE } from './in-time.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('returns a result that comes in time, and leaves no timer', async () => {
  expect(await inTime(Promise.resolve(1), 1_000)).toBe(1);
  await expect(inTime(Promise.reject(new Error('no')), 1_000)).rejects.toThrow('no');
  expect(vi.getTimerCount()).toBe(0);
});

it('returns `LATE` if the work takes too long', async () => {
  const late = inTime(new Promise(() => {}), 1_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await late).toBe(LATE);
});
