import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Expiry } from './expiry.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});

afterEach(() => {
  vi.useRealTimers();
});

const inMs = (ms: number): number => Date.now() + ms;

describe('an expiry', () => {
  const ended: string[] = [];
  const waitFor = (expiry: Expiry, name: string, graceMs = 0): (() => void) =>
    expiry.onEnd(() => void ended.push(name), graceMs);

  beforeEach(() => {
    ended.length = 0;
  });

  it('calls each callback once, after its own grace period, and then has no timer', () => {
    const expiry = new Expiry(inMs(1_000));
    waitFor(expiry, 'answer', 500);
    waitFor(expiry, 'stream');
    vi.advanceTimersByTime(999);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(ended).toEqual(['stream']);
    vi.advanceTimersByTime(500);
    expect(ended).toEqual(['stream', 'answer']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('moves to a later time with a newer token, and never to an earlier one', () => {
    const expiry = new Expiry(inMs(1_000));
    waitFor(expiry, 'stream');
    expiry.renew(inMs(3_000));
    expiry.renew(inMs(2_000));
    vi.advanceTimersByTime(2_999);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(ended).toEqual(['stream']);
  });

  it('has a timer only while a callback waits', () => {
    const expiry = new Expiry(inMs(1_000));
    expect(vi.getTimerCount()).toBe(0);
    const forget = waitFor(expiry, 'stream');
    expect(vi.getTimerCount()).toBe(1);
    forget();
    expect(vi.getTimerCount()).toBe(0);
    waitFor(expiry, 'stream');
    expiry.renew(undefined);
    expect([vi.getTimerCount(), expiry.never]).toEqual([0, true]);
  });

  it('may be further away than the longest timer of Node.js, or be past', () => {
    const year = 365 * 86_400_000;
    const far = new Expiry(inMs(year));
    waitFor(far, 'far');
    vi.advanceTimersByTime(year - 1);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(1);
    waitFor(new Expiry(inMs(-1)), 'over');
    vi.advanceTimersByTime(0);
    expect(ended).toEqual(['far', 'over']);
  });
});
