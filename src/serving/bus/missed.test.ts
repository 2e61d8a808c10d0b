import { describe, expect, it } from 'vitest';
import { createMissed } from './missed.ts';

describe('a missed message', () => {
  it('is noticed by the number of the next message', () => {
    const missed = createMissed();
    expect([7, 8, 10, 11].map((count) => missed.message('a', count))).toEqual([false, false, true, false]);
    // A message that timed out at its sender has arrived after all.
    expect([11, 12].map((count) => missed.message('a', count))).toEqual([false, false]);
  });

  it('is noticed by the greeting of a sender whose messages nobody heard', () => {
    const missed = createMissed();
    missed.message('a', 1);
    expect(missed.greeting('a', 2, 0)).toBe(false);
    expect(missed.greeting('a', 5, 0)).toBe(true);
  });

  it('is never one that was sent before this replica began to hear', () => {
    let now = 0;
    const missed = createMissed(() => now);
    missed.message('a', 1);
    now = 1_000;
    missed.begin();
    now = 1_100;
    expect(missed.message('a', 9)).toBe(false);
    // `b` sent its last message 200 ms ago, before this replica heard; `c` sent one 50 ms ago, and this replica has not heard it.
    expect(missed.greeting('b', 4, 200)).toBe(false);
    expect(missed.greeting('c', 4, 50)).toBe(true);
  });
});
