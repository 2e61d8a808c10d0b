import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Context, createContext } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import { createSubscriptionBook, type SubscriptionBook } from './book.ts';

/** A watch whose changes the test makes. `open` counts the open watches. */
function watches() {
  const listeners = new Set<() => void>();
  return {
    watch: async (onChange: () => void): Promise<AsyncDisposable> => {
      const own = (): void => onChange();
      listeners.add(own);
      return { [Symbol.asyncDispose]: async () => void listeners.delete(own) };
    },
    change: () => {
      for (const listener of [...listeners]) listener();
    },
    get open() {
      return listeners.size;
    },
  };
}

const peer = (name: string): Context => createContext({ peer: name });
const HOUR = 60 * 60 * 1000;

describe('the book of subscriptions [CB-8]', () => {
  beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) }));
  afterEach(() => void vi.useRealTimers());

  it('counts the changes since the subscription, and has the time of the last one', async () => {
    const book = createSubscriptionBook();
    const files = watches();
    expect(await book.add('x:a', files.watch, peer('p'))).toBe(true);
    expect(book.of(peer('p'))).toEqual({
      subscriptions: [{ uri: 'x:a', since: '2026-01-01T00:00:00.000Z', changes: 0 }],
    });
    vi.advanceTimersByTime(1_000);
    files.change();
    vi.advanceTimersByTime(1_000);
    files.change();
    expect(book.of(peer('p')).subscriptions).toEqual([
      { uri: 'x:a', since: '2026-01-01T00:00:00.000Z', changes: 2, lastChange: '2026-01-01T00:00:02.000Z' },
    ]);
    book.close();
  });

  it('has at most one subscription to a resource: a second one changes nothing, and one removal ends it', async () => {
    const book = createSubscriptionBook();
    const files = watches();
    const both = await Promise.all([book.add('x:a', files.watch, peer('p')), book.add('x:a', files.watch, peer('p'))]);
    expect(both).toEqual([true, false]);
    expect(files.open).toBe(1);
    expect(await book.remove('x:a', peer('p'))).toBe(true);
    expect(await book.remove('x:a', peer('p'))).toBe(false);
    expect(files.open).toBe(0);
    expect(book.size).toBe(0);
  });

  it('keeps subscriptions to lists and to resources apart', async () => {
    const book = createSubscriptionBook();
    const lists = watches();
    expect(await book.add(undefined, lists.watch, peer('p'))).toBe(true);
    lists.change();
    expect(book.of(peer('p'))).toEqual({ subscriptions: [], listChanges: expect.objectContaining({ changes: 1 }) });
    expect(await book.remove(undefined, peer('p'))).toBe(true);
    expect(book.of(peer('p'))).toEqual({ subscriptions: [] });
  });

  it('shows each peer its own subscriptions, and lets no peer end those of another', async () => {
    const book = createSubscriptionBook();
    const files = watches();
    await book.add('x:a', files.watch, peer('one'));
    expect(book.of(peer('two'))).toEqual({ subscriptions: [] });
    expect(await book.remove('x:a', peer('two'))).toBe(false);
    expect(files.open).toBe(1);
    book.close();
  });

  it('limits the URIs of a peer, not counting the list, and the number of peers [SEC-RES-4]', async () => {
    const book = createSubscriptionBook({ maxUris: 2, maxPeers: 2, idleMs: HOUR });
    const { watch } = watches();
    await book.add(undefined, watch, peer('p'));
    await book.add('x:a', watch, peer('p'));
    await book.add('x:b', watch, peer('p'));
    await expect(book.add('x:c', watch, peer('p'))).rejects.toMatchObject({ code: 'limited', details: { limit: 2 } });
    expect(await book.add('x:b', watch, peer('p'))).toBe(false);
    await book.remove('x:a', peer('p'));
    expect(await book.add('x:c', watch, peer('p'))).toBe(true);
    await book.add('x:a', watch, peer('q'));
    await expect(book.add('x:a', watch, peer('r'))).rejects.toMatchObject({ code: 'limited' });
    await book.remove('x:a', peer('q'));
    expect(await book.add('x:a', watch, peer('r'))).toBe(true);
    book.close();
  });

  it('keeps no subscription whose watch failed', async () => {
    const book = createSubscriptionBook();
    const failing = async (): Promise<never> => {
      throw new ResourceError('not-found', 'gone');
    };
    await expect(book.add('x:a', failing, peer('p'))).rejects.toThrow('gone');
    expect(book.size).toBe(0);
    expect(await book.add('x:a', watches().watch, peer('p'))).toBe(true);
    book.close();
  });

  it('ends a subscription that is removed while it begins', async () => {
    const book = createSubscriptionBook();
    const files = watches();
    const adding = book.add('x:a', files.watch, peer('p'));
    expect(await book.remove('x:a', peer('p'))).toBe(true);
    await adding;
    expect(files.open).toBe(0);
    expect(book.size).toBe(0);
  });

  it('forgets a peer after an hour without a call and ends its watches, and those of no other peer', async () => {
    const book = createSubscriptionBook({ maxUris: 10, maxPeers: 10, idleMs: HOUR });
    const files = watches();
    await book.add('x:a', files.watch, peer('idle'));
    await book.add('x:a', files.watch, peer('busy'));
    for (let minutes = 0; minutes < 80; minutes += 10) {
      book.of(peer('busy'));
      await vi.advanceTimersByTimeAsync(HOUR / 6);
    }
    expect(book.of(peer('idle'))).toEqual({ subscriptions: [] });
    expect(book.of(peer('busy')).subscriptions).toHaveLength(1);
    expect(files.open).toBe(1);
    await vi.advanceTimersByTimeAsync(2 * HOUR);
    expect(book.size).toBe(0);
    expect(files.open).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves no timer behind when it is closed', async () => {
    const book = createSubscriptionBook();
    await book.add('x:a', watches().watch, peer('p'));
    expect(vi.getTimerCount()).toBe(1);
    book.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a connection in the book [CB-8]', () => {
  const linkTo = (book: SubscriptionBook) => {
    const told: string[] = [];
    const end = book.connect('p', {
      add: async (uri) => void told.push(`+${uri}`),
      remove: async (uri) => void told.push(`-${uri}`),
    });
    return { told, end };
  };

  it('hears of its peer’s subscriptions, and of no others', async () => {
    const book = createSubscriptionBook();
    const files = watches();
    const { told } = linkTo(book);
    await book.add('x:a', files.watch, peer('p'));
    await book.add('x:b', files.watch, peer('other'));
    await book.add(undefined, files.watch, peer('p'));
    await book.remove('x:a', peer('p'));
    expect(told).toEqual(['+x:a', '-x:a']);
    book.close();
  });

  it('ends its peer’s subscriptions when it ends', async () => {
    const book = createSubscriptionBook();
    const files = watches();
    const { end } = linkTo(book);
    await book.add('x:a', files.watch, peer('p'));
    await book.add(undefined, files.watch, peer('p'));
    await end();
    expect(files.open).toBe(0);
    expect(book.size).toBe(0);
  });

  it('keeps its peer from being forgotten while it is open', async () => {
    let time = 0;
    const book = createSubscriptionBook({ maxUris: 10, maxPeers: 10, idleMs: HOUR }, () => time);
    const files = watches();
    linkTo(book);
    await book.add('x:a', files.watch, peer('p'));
    await book.add('x:a', files.watch, peer('q'));
    time = 3 * HOUR;
    await book.add('x:a', files.watch, peer('r'));
    expect(book.of(peer('p')).subscriptions).toHaveLength(1);
    expect(book.of(peer('q')).subscriptions).toHaveLength(0);
    book.close();
  });

  it('can refuse a subscription, which is then not kept', async () => {
    const book = createSubscriptionBook();
    const files = watches();
    book.connect('p', {
      add: () => Promise.reject(new ResourceError('limited', 'full')),
      remove: async () => {},
    });
    await expect(book.add('x:a', files.watch, peer('p'))).rejects.toThrow('full');
    expect(files.open).toBe(0);
    expect(book.size).toBe(0);
  });
});
