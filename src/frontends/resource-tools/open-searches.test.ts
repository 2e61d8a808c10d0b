import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { refused } from '../../../test/security/served.ts';
import { createContext } from '../../core/context.ts';
import type { SearchMatch } from '../../core/provider.ts';
import { createOpenSearches } from './open-searches.ts';

/** An endless search, and whether it has ended. */
function endless() {
  const state = { ended: false };
  async function* begin(): AsyncIterable<SearchMatch> {
    try {
      for (let line = 1; ; line++) yield { uri: 'x:a', place: { line, offset: 0 } };
    } finally {
      state.ended = true;
    }
  }
  return { state, begin };
}

const never = new AbortController().signal;

describe('searches between two pages', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('continue at their position, for their principal only, and end when idle', async () => {
    const searches = createOpenSearches();
    const { state, begin } = endless();
    const ctx = createContext({ principal: { id: 'p' } });
    const search = searches.start(begin, ctx);
    await search.use(never, () => search.next());
    await vi.advanceTimersByTimeAsync(50_000);
    const again = searches.resume(search.id, ctx);
    expect((await again?.use(never, () => search.next()))?.place?.line).toBe(2);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(state.ended).toBe(false);
    expect(searches.resume(search.id, createContext({ principal: { id: 'q' } }))).toBeUndefined();
    await vi.advanceTimersByTimeAsync(10_001);
    expect(state.ended).toBe(true);
    expect(searches.resume(search.id, ctx)).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('end with close, together with their timers', async () => {
    const searches = createOpenSearches();
    const all = [endless(), endless()];
    for (const { begin } of all) {
      const search = searches.start(begin, createContext());
      await search.use(never, () => search.next());
    }
    await searches.close();
    expect(all.map(({ state }) => state.ended)).toEqual([true, true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('make room by ending the oldest of a peer, and of all', async () => {
    const searches = createOpenSearches();
    const ofPeer = Array.from({ length: 9 }, endless);
    for (const { begin } of ofPeer) {
      const search = searches.start(begin, createContext({ peer: 'one' }));
      await search.use(never, () => search.next());
    }
    expect(ofPeer.map(({ state }) => state.ended)).toEqual([true, ...Array(8).fill(false)]);
    for (let count = 0; count < 25; count++) {
      const search = searches.start(endless().begin, createContext({ peer: `peer ${count}` }));
      await search.use(never, () => search.next());
    }
    expect(ofPeer.map(({ state }) => state.ended).slice(0, 3)).toEqual([true, true, false]);
    await searches.close();
  });

  it('refuse concurrent pages, and more searches than allowed', async () => {
    const searches = createOpenSearches();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const running = Array.from({ length: 8 }, () => {
      const search = searches.start(endless().begin, createContext({ peer: 'one' }));
      return { search, page: search.use(never, () => held) };
    });
    const first = running[0]?.search;
    expect(await refused(first?.use(never, () => held) ?? Promise.resolve())).toBe('limited');
    expect(() => searches.start(endless().begin, createContext({ peer: 'one' }))).toThrow('Too many searches');
    release();
    await Promise.all(running.map(({ page }) => page));
    await searches.close();
  });

  it('end when the caller of a page aborts, and when a page fails', async () => {
    const searches = createOpenSearches();
    const caller = new AbortController();
    let own: AbortSignal | undefined;
    const { begin } = endless();
    const search = searches.start(
      (ctx) => {
        own = ctx.signal;
        return begin();
      },
      createContext({ signal: caller.signal }),
    );
    const page = search.use(caller.signal, async () => {
      caller.abort(new Error('gone'));
      own?.throwIfAborted();
    });
    await expect(page).rejects.toThrow('gone');
    expect(searches.resume(search.id, createContext())).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});
