import { expect, it } from 'vitest';
import { createAllowance } from './allowance.ts';

it('an allowance is used up at once, and grows back with time, up to its limit', () => {
  let now = 0;
  const allowance = createAllowance({ burst: 10, perSecond: 2 }, () => now);
  expect(allowance.take(10)).toBe(true);
  expect(allowance.take(1)).toBe(false);
  expect(allowance.waitMs(1)).toBe(500);
  now = 500;
  expect(allowance.waitMs(1)).toBe(0);
  expect(allowance.take(1)).toBe(true);
  expect(allowance.take(1)).toBe(false);
  now = 1_000_000;
  expect(allowance.take(11)).toBe(false);
  expect(allowance.take(10)).toBe(true);
  // More than the limit is waited for as long as for the limit.
  expect(allowance.waitMs(1_000)).toBe(5_000);
});
