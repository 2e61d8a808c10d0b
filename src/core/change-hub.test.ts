import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryProvider } from '../providers/memory/index.ts';
import { type ChangeHub, type ChangeHubOptions, createChangeHub, DEFAULT_COALESCE_MS } from './change-hub.ts';
import { type Context, createContext } from './context.ts';
import { ResourceError } from './errors.ts';
import type { ChangeEvent, ResourceProvider } from './provider.ts';

interface Opened {
  readonly uri: string | undefined;
  readonly ctx: Context;
  readonly change: () => void;
  disposals: number;
}

interface Stage {
  readonly hub: ChangeHub;
  /** Every call of the provider's `watch`, in order. */
  readonly opened: Opened[];
  /** The number of these that have not been disposed of, also if they failed. */
  open(): number;
}

interface StageOptions extends ChangeHubOptions {
  readonly opening?: (uri: string | undefined, ctx: Context) => Promise<void>;
  readonly ending?: () => Promise<void>;
}

function stage({ opening = async () => {}, ending = async () => {}, ...options }: StageOptions = {}): Stage {
  const opened: Opened[] = [];
  const watch: NonNullable<ResourceProvider['watch']> = async (uri, onChange, ctx) => {
    const event: ChangeEvent = uri === undefined ? { kind: 'list-changed' } : { kind: 'updated', uri };
    const one: Opened = { uri, ctx, change: () => onChange(event), disposals: 0 };
    opened.push(one);
    await opening(uri, ctx);
    return {
      [Symbol.asyncDispose]: async () => {
        await ending();
        one.disposals++;
      },
    };
  };
  const provider: ResourceProvider = { ...memoryProvider(), watch };
  return {
    hub: createChangeHub(provider, options),
    opened,
    open: () => opened.filter(({ disposals }) => disposals === 0).length,
  };
}

const of = (id: string): Context => createContext({ principal: { id } });
const anybody = createContext();
const A = 'memory:///a';
const B = 'memory:///b';

/** A promise and the means to settle it. */
function gate(): { readonly opens: Promise<void>; open: () => void; fail: (error: Error) => void } {
  const settle = { open: (): void => {}, fail: (_error: Error): void => {} };
  const opens = new Promise<void>((resolve, reject) => Object.assign(settle, { open: resolve, fail: reject }));
  return { opens, open: () => settle.open(), fail: (error) => settle.fail(error) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount(), 'timers that are left').toBe(0);
  vi.useRealTimers();
});

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(DEFAULT_COALESCE_MS);

describe('watches are shared [SEC-RES-4]', () => {
  it('by all subscribers of a principal to a URI, until the last one leaves', async () => {
    const { hub, opened, open } = stage();
    const listener = vi.fn();
    const subscriptions = [];
    for (let index = 0; index < 100; index++) subscriptions.push(await hub.subscribe(A, listener, anybody));
    expect(opened).toHaveLength(1);
    expect(hub.size).toBe(1);
    opened[0]?.change();
    await settle();
    expect(listener).toHaveBeenCalledTimes(100);
    for (const subscription of subscriptions.slice(1)) await subscription[Symbol.asyncDispose]();
    expect(open()).toBe(1);
    opened[0]?.change();
    await settle();
    expect(listener).toHaveBeenCalledTimes(101);
    await subscriptions[0]?.[Symbol.asyncDispose]();
    expect(open()).toBe(0);
    expect(hub.size).toBe(0);
  });

  it('but not by different principals, URIs, or the list and a URI', async () => {
    const { hub, opened } = stage();
    await hub.subscribe(A, () => {}, of('one'));
    await hub.subscribe(A, () => {}, of('two'));
    await hub.subscribe(B, () => {}, of('one'));
    await hub.subscribe(undefined, () => {}, of('one'));
    await hub.subscribe('', () => {}, of('one'));
    expect(opened.map(({ uri, ctx }) => [uri, ctx.principal.id])).toEqual([
      [A, 'one'],
      [A, 'two'],
      [B, 'one'],
      [undefined, 'one'],
      ['', 'one'],
    ]);
    await hub.close();
  });

  it('notify only the subscribers of the resource that changed', async () => {
    const { hub, opened } = stage();
    const [a, b] = [vi.fn(), vi.fn()];
    await hub.subscribe(A, a, anybody);
    await hub.subscribe(B, b, anybody);
    opened[1]?.change();
    await settle();
    expect([a.mock.calls.length, b.mock.calls.length]).toEqual([0, 1]);
    await hub.close();
  });

  it('end once for a subscription that is disposed of twice', async () => {
    const { hub, opened } = stage();
    const leaving = await hub.subscribe(A, () => {}, anybody);
    const staying = await hub.subscribe(A, () => {}, anybody);
    await Promise.all([leaving[Symbol.asyncDispose](), leaving[Symbol.asyncDispose]()]);
    expect(opened[0]?.disposals).toBe(0);
    await staying[Symbol.asyncDispose]();
    await leaving[Symbol.asyncDispose]();
    expect(opened[0]?.disposals).toBe(1);
  });

  it('outlive the request that opened them: their signal is that of the hub', async () => {
    const { hub, opened } = stage();
    const caller = new AbortController();
    await hub.subscribe(A, () => {}, createContext({ signal: caller.signal }));
    caller.abort();
    expect(opened[0]?.ctx.signal.aborted).toBe(false);
    await hub.close();
    expect(opened[0]?.ctx.signal.aborted).toBe(true);
  });
});

describe('events are coalesced [SEC-RES-4]', () => {
  it('to one for each interval, which begins with the first event', async () => {
    const { hub, opened } = stage({ coalesceMs: 100 });
    const listener = vi.fn();
    await using _subscription = await hub.subscribe(A, listener, anybody);
    for (let ms = 0; ms < 100; ms += 10) {
      opened[0]?.change();
      await vi.advanceTimersByTimeAsync(10);
      expect(listener).toHaveBeenCalledTimes(ms < 90 ? 0 : 1);
    }
    await vi.advanceTimersByTimeAsync(1_000);
    expect(listener).toHaveBeenCalledTimes(1);
    opened[0]?.change();
    await vi.advanceTimersByTimeAsync(100);
    expect(listener).toHaveBeenCalledTimes(2);
  });

  it('an endless storm of changes is reported again and again, and not put off for ever', async () => {
    const { hub, opened } = stage({ coalesceMs: 100 });
    const listener = vi.fn();
    await using _subscription = await hub.subscribe(A, listener, anybody);
    for (let ms = 0; ms < 1_000; ms++) {
      opened[0]?.change();
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(listener.mock.calls.length).toBeGreaterThanOrEqual(9);
    expect(listener.mock.calls.length).toBeLessThanOrEqual(10);
  });

  it('a subscriber that has left gets no pending change', async () => {
    const { hub, opened } = stage();
    const [leaving, staying] = [vi.fn(), vi.fn()];
    const subscription = await hub.subscribe(A, leaving, anybody);
    await using _other = await hub.subscribe(A, staying, anybody);
    opened[0]?.change();
    await subscription[Symbol.asyncDispose]();
    await settle();
    expect([leaving.mock.calls.length, staying.mock.calls.length]).toEqual([0, 1]);
  });

  it('a subscriber that fails, or leaves while it is notified, affects no other one', async () => {
    const { hub, opened } = stage();
    const error = vi.fn();
    const ctx = createContext({ log: { debug() {}, info() {}, warn() {}, error } });
    const listener = vi.fn();
    await hub.subscribe(A, failNow, ctx);
    const leaving = await hub.subscribe(A, () => void leaving[Symbol.asyncDispose](), ctx);
    await hub.subscribe(A, listener, ctx);
    opened[0]?.change();
    await settle();
    expect(listener).toHaveBeenCalledTimes(1);
    expect(error).toHaveBeenCalledTimes(1);
    await hub.close();
  });
});

function failNow(): never {
  throw new Error('a bad subscriber');
}

describe('watches are limited [SEC-RES-4]', () => {
  it('in number over all principals; a shared watch counts once, an ended one does not', async () => {
    const { hub, opened } = stage({ maxWatches: 2 });
    await hub.subscribe(A, () => {}, of('one'));
    const second = await hub.subscribe(A, () => {}, of('two'));
    await hub.subscribe(A, () => {}, of('two')).then((extra) => extra[Symbol.asyncDispose]());
    await expect(hub.subscribe(B, () => {}, of('one'))).rejects.toMatchObject({
      code: 'limited',
      uri: B,
      details: { limit: 2 },
      retryable: true,
    });
    expect(opened).toHaveLength(2);
    await second[Symbol.asyncDispose]();
    await hub.subscribe(B, () => {}, of('one'));
    expect(hub.size).toBe(2);
    await hub.close();
  });

  it('to providers that can be watched', async () => {
    const hub = createChangeHub({ name: 'quiet' });
    await expect(hub.subscribe(A, () => {}, anybody)).rejects.toMatchObject({ code: 'invalid', uri: A });
    await hub.close();
  });
});

describe('a watch that is opening', () => {
  it('is shared with those who subscribe meanwhile, and loses no change', async () => {
    const door = gate();
    const { hub, opened } = stage({ opening: () => door.opens });
    const [one, two] = [vi.fn(), vi.fn()];
    const subscriptions = Promise.all([hub.subscribe(A, one, anybody), hub.subscribe(A, two, anybody)]);
    opened[0]?.change();
    door.open();
    await subscriptions;
    await settle();
    expect(opened).toHaveLength(1);
    expect([one.mock.calls.length, two.mock.calls.length]).toEqual([1, 1]);
    await hub.close();
  });

  it('fails all who wait for it, leaves nothing behind, and may be tried again', async () => {
    const error = new ResourceError('unavailable', 'Not now', { uri: A });
    let door = gate();
    const { hub, opened } = stage({ opening: () => door.opens });
    const waiting = [hub.subscribe(A, () => {}, anybody), hub.subscribe(A, () => {}, anybody)];
    const outcomes = Promise.allSettled(waiting);
    opened[0]?.change();
    door.fail(error);
    expect((await outcomes).map((one) => one.status === 'rejected' && one.reason)).toEqual([error, error]);
    expect(hub.size).toBe(0);
    await settle();
    door = gate();
    door.open();
    await using _again = await hub.subscribe(A, () => {}, anybody);
    expect(opened).toHaveLength(2);
    expect(hub.size).toBe(1);
  });

  it('and throws at once fails the subscription, and nothing else', async () => {
    const provider = { ...memoryProvider(), watch: failNow };
    const hub = createChangeHub(provider);
    await expect(hub.subscribe(A, () => {}, anybody)).rejects.toThrow('a bad subscriber');
    expect(hub.size).toBe(0);
    await hub.close();
  });

  it('is ended if the hub closes meanwhile, and its subscriber gets an error', async () => {
    const door = gate();
    const { hub, opened } = stage({ opening: () => door.opens });
    const subscription = hub.subscribe(A, () => {}, anybody);
    const outcome = expect(subscription).rejects.toMatchObject({ code: 'unavailable' });
    let closed = false;
    const closing = hub.close().then(() => {
      closed = true;
    });
    await vi.advanceTimersByTimeAsync(10);
    expect(closed).toBe(false);
    door.open();
    await closing;
    await outcome;
    expect(opened[0]?.disposals).toBe(1);
  });
});

describe('a watch that is ending', () => {
  it('is not shared with somebody who subscribes meanwhile, who gets a new watch', async () => {
    const door = gate();
    const { hub, opened, open } = stage({ ending: () => door.opens });
    const listener = vi.fn();
    const leaving = (await hub.subscribe(A, () => {}, anybody))[Symbol.asyncDispose]();
    const coming = await hub.subscribe(A, listener, anybody);
    expect(opened).toHaveLength(2);
    opened[0]?.change();
    await settle();
    expect(listener).not.toHaveBeenCalled();
    opened[1]?.change();
    await settle();
    expect(listener).toHaveBeenCalledTimes(1);
    door.open();
    await leaving;
    expect(open()).toBe(1);
    expect(hub.size).toBe(1);
    await coming[Symbol.asyncDispose]();
    expect(open()).toBe(0);
  });
});

describe('closing the hub [RES-7]', () => {
  it('ends every watch and waits until they have ended, those that were ending too', async () => {
    const door = gate();
    const { hub, opened, open } = stage({ ending: () => door.opens });
    void (await hub.subscribe(A, () => {}, anybody))[Symbol.asyncDispose]();
    await hub.subscribe(B, () => {}, anybody);
    await hub.subscribe(undefined, () => {}, of('one'));
    opened[1]?.change();
    let closed = false;
    const closing = hub.close().then(() => {
      closed = true;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(closed).toBe(false);
    door.open();
    await closing;
    expect(open()).toBe(0);
    expect(hub.size).toBe(0);
  });

  it('reports no later changes, and opens no more watches', async () => {
    const { hub, opened } = stage();
    const listener = vi.fn();
    const subscription = await hub.subscribe(A, listener, anybody);
    opened[0]?.change();
    await hub.close();
    await settle();
    expect(listener).not.toHaveBeenCalled();
    await expect(hub.subscribe(A, () => {}, anybody)).rejects.toMatchObject({ code: 'unavailable' });
    await subscription[Symbol.asyncDispose]();
    await hub.close();
    expect(opened).toHaveLength(1);
  });

  it('is done even if a watch cannot be ended', async () => {
    const { hub } = stage({ ending: () => Promise.reject(new Error('cannot end')) });
    await hub.subscribe(A, () => {}, anybody);
    await hub.close();
    expect(hub.size).toBe(0);
  });
});
