import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRecent } from './recent.ts';
import { createReplays } from './replays.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 1_000_000 });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Lets time pass. */
const later = (ms: number): void => void vi.advanceTimersByTime(ms);

/** Sets the clock without any time passing. */
const setClock = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

describe('proofs that have been used', () => {
  it('are remembered for at least one window, separately for each key', () => {
    const used = createReplays({ windowMs: 1_000 });
    const use = (key: string, id: string) => used('ann', key, id);
    expect(use('k', 'a')).toBe('first');
    expect(use('k', 'a')).toBe('again');
    expect(use('other', 'a')).toBe('first');
    expect(use('k', 'b')).toBe('first');
    for (const step of [500, 499]) {
      later(step);
      expect(use('k', 'a')).toBe('again');
    }
    later(1);
    expect(use('k', 'a')).toBe('again');
    later(5_000);
    expect(use('k', 'a')).toBe('first');
  });

  it.each([
    ['within the window', 500, -100],
    ['to before the window', 500, -10_000],
    ['as it changes', 990, -20],
    ['after it has changed', 1_500, -600],
    ['as two have changed', 1_990, -1_000],
    ['ahead of its time', 100, 60_000],
  ])('are remembered as long as they can be used, if the clock is set %s', (_when, beforeMs, byMs) => {
    const used = createReplays({ windowMs: 1_000 });
    const use = (id: string) => used('ann', 'k', id);
    later(beforeMs);
    const usedAt = Date.now();
    expect(use('a')).toBe('first');
    later(10);
    expect(use('b')).toBe('first');
    setClock(byMs);
    expect(use('c')).toBe('first');
    if (byMs > 0) setClock(-byMs);
    // The proof is valid for one window after its use, by the clock.
    for (let at = 0; Date.now() <= usedAt + 1_000; at++) {
      expect(use('a')).toBe('again');
      expect(use(`other ${at}`)).toBe('first');
      later(100);
    }
    later(70_000);
    use('later');
    later(2_000);
    expect(use('a')).toBe('first');
  });

  it('take bounded memory, however often the clock is set back', () => {
    const used = createReplays({ windowMs: 1_000, max: 100, maxEach: 100, few: 1 });
    const uses: string[] = [];
    for (let at = 0; at < 2_000; at++) {
      if (at % 100 === 0) setClock(-60_000);
      uses.push(used('ann', 'k', `${at}`));
      later(10);
    }
    const first = uses.filter((use) => use === 'first').length;
    expect(first).toBeGreaterThanOrEqual(400);
    expect(first).toBeLessThanOrEqual(500);
    // None of those that had room is forgotten.
    for (const [at, use] of uses.entries()) if (use === 'first') expect(used('ann', 'k', `${at}`)).toBe('again');
  });

  it('have a limit for each principal, over all its keys; further proofs are refused until the window is over', () => {
    const use = createReplays({ windowMs: 1_000, maxEach: 3 });
    expect(['a', 'b', 'c', 'd'].map((key) => use('ann', key, 'x'))).toEqual(['first', 'first', 'first', 'full']);
    expect(use('bob', 'a', 'y')).toBe('first');
    // The proofs that had room are still remembered.
    expect(use('ann', 'a', 'x')).toBe('again');
    later(1_000);
    expect(use('ann', 'd', 'x')).toBe('first');
  });

  it('have a limit in total, and a few more are remembered for each principal with few proofs', () => {
    const used = createReplays({ windowMs: 1_000, max: 4, maxEach: 2, few: 1 });
    const use = (principal: string, id: string) => used(principal, `key of ${principal}`, id);
    for (const flooder of ['a', 'b']) for (const id of ['x', 'y', 'z']) use(flooder, id);
    expect([use('c', 'x'), use('c', 'y')]).toEqual(['first', 'full']);
    expect([use('a', 'w'), use('d', 'x'), use('e', 'x'), use('f', 'x')]).toEqual([
      ...['full', 'first', 'first', 'first'],
    ]);
    // At twice the limit, no further proof is remembered for anybody.
    expect(use('g', 'x')).toBe('full');
    expect(use('c', 'x')).toBe('again');
  });
});

it('a cache of recent results is bounded in number and in time', () => {
  const recent = createRecent<number>(2);
  recent.set('a', 1, Date.now() + 100);
  recent.set('b', 2, Date.now() + 100);
  recent.set('late', 3, Date.now());
  recent.set('b', 4, Date.now() + 200);
  expect(['a', 'b', 'late'].map((key) => recent.get(key))).toEqual([1, 4, undefined]);
  recent.set('c', 5, Date.now() + 100);
  expect(['a', 'b', 'c'].map((key) => recent.get(key))).toEqual([undefined, 4, 5]);
  later(100);
  expect(['b', 'c'].map((key) => recent.get(key))).toEqual([4, undefined]);
});
