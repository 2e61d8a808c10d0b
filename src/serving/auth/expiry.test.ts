import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Expiry, endingWith } from './expiry.ts';

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

  it('ends everything once, some of it later, and has no timer then', () => {
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

  it('moves on with a token that is good for longer, and never back', () => {
    const expiry = new Expiry(inMs(1_000));
    waitFor(expiry, 'stream');
    expiry.renew(inMs(3_000));
    expiry.renew(inMs(2_000));
    vi.advanceTimersByTime(2_999);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(ended).toEqual(['stream']);
  });

  it('has a timer only while something waits', () => {
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

  it('can be further away than a timer reaches, or be over', () => {
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

describe('a response that ends with its token', () => {
  const EVENTS = { headers: { 'content-type': 'text/event-stream' } };

  function stream() {
    const cancelled: unknown[] = [];
    let push = (_text: string): void => {};
    let close = (): void => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        push = (text) => controller.enqueue(new TextEncoder().encode(text));
        close = () => controller.close();
      },
      cancel: (reason) => void cancelled.push(reason),
    });
    return {
      response: new Response(body, EVENTS),
      cancelled,
      push: (text: string) => push(text),
      close: () => close(),
    };
  }

  it('has what was said until then, and its server is told to stop', async () => {
    const { response, cancelled, push } = stream();
    const expired: string[] = [];
    const expiry = new Expiry(inMs(1_000));
    const bounded = endingWith(response, expiry, { graceMs: 0, onExpired: () => expired.push('expired') });
    push('data: a\n\n');
    const text = bounded.text();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await text).toBe('data: a\n\n');
    expect([cancelled.length, expired]).toEqual([1, ['expired']]);
  });

  it.each(['server', 'client'])('leaves nothing behind when its %s ends it before', async (who) => {
    const { response, cancelled, close } = stream();
    const expired: string[] = [];
    const expiry = new Expiry(inMs(1_000));
    const bounded = endingWith(response, expiry, { graceMs: 0, onExpired: () => expired.push('expired') });
    if (who === 'client') await bounded.body?.cancel('gone');
    else {
      close();
      expect(await bounded.text()).toBe('');
    }
    expect(cancelled).toEqual(who === 'client' ? ['gone'] : []);
    expect(vi.getTimerCount()).toBe(0);
    expect(expired).toEqual([]);
  });

  it('fails as the stream does', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('broken')) });
    const bounded = endingWith(new Response(body, EVENTS), new Expiry(inMs(1_000)), { graceMs: 0 });
    await expect(bounded.text()).rejects.toThrow('broken');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is the response itself where it is no stream, or nothing expires', () => {
    const json = Response.json({});
    expect(endingWith(json, new Expiry(inMs(1_000)), { graceMs: 0 })).toBe(json);
    const { response } = stream();
    expect(endingWith(response, new Expiry(), { graceMs: 0 })).toBe(response);
  });
});
