import { describe, expect, it } from 'vitest';
import { createMissed } from './missed.ts';

describe('what was missed', () => {
  it('is seen in the count of the next message', () => {
    const missed = createMissed();
    expect([7, 8, 10, 11].map((count) => missed.message('a', count))).toEqual([false, false, true, false]);
    // One that timed out at its sender has come after all.
    expect([11, 12].map((count) => missed.message('a', count))).toEqual([false, false]);
  });

  it('is seen in the greeting of a sender that spoke to nobody', () => {
    const missed = createMissed();
    missed.message('a', 1);
    expect(missed.greeting('a', 2, 0)).toBe(false);
    expect(missed.greeting('a', 5, 0)).toBe(true);
  });

  it('is nothing that was said before this replica began to hear', () => {
    let now = 0;
    const missed = createMissed(() => now);
    missed.message('a', 1);
    now = 1_000;
    missed.begin();
    now = 1_100;
    expect(missed.message('a', 9)).toBe(false);
    // It last spoke 200 ms ago, when this replica did not hear; the other one 50 ms ago, and was not heard.
    expect(missed.greeting('b', 4, 200)).toBe(false);
    expect(missed.greeting('c', 4, 50)).toBe(true);
  });
});
