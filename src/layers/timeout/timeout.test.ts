import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chunksOf, closeBodies, type ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { NAMED_METHODS } from '../../core/operations.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import type { CallerMethod } from '../../testing/layer-law.ts';
import { CALLER_METHODS, call, innerProvider, RESOURCE, type Reached, URI } from '../../testing/layer-law.ts';
import { EVERYTHING } from '../../testing/observe.ts';
import { DEFAULT_TIMEOUT_MS, timeoutLayer } from './index.ts';

layerContract('timeout', timeoutLayer({ timeoutMs: 20_000 }));

const LIMIT_MS = 100;
const layer = timeoutLayer({ timeoutMs: LIMIT_MS });
const UNLIMITED: ReadonlySet<CallerMethod> = new Set(NAMED_METHODS);
const LIMITED: readonly CallerMethod[] = CALLER_METHODS.filter(
  (method) => method !== 'watch' && !UNLIMITED.has(method),
);

/** Observes work: `isPending` says whether it still runs, `settled` gives its outcome. */
function outcomeOf(work: Promise<unknown>): { readonly settled: Promise<unknown>; readonly isPending: () => boolean } {
  let pending = true;
  const settled = work.then(
    () => 'done',
    (error: unknown) => error,
  );
  void settled.then(() => {
    pending = false;
  });
  return { settled, isPending: () => pending };
}

const isTimeout = (error: unknown): boolean => error instanceof ResourceError && error.code === 'timeout';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  expect(vi.getTimerCount(), 'timers that are left').toBe(0);
  vi.useRealTimers();
});

describe('an operation that hangs [RES-7]', () => {
  it.each(LIMITED)('%s ends with a timeout when its time is over, and its work is aborted', async (method) => {
    const reached: Reached[] = [];
    let stopped = 0;
    const inner = innerProvider({
      before: (one) => {
        reached.push(one);
        return new Promise((_, reject) => {
          one.ctx.signal.addEventListener('abort', () => {
            stopped++;
            reject(one.ctx.signal.reason);
          });
        });
      },
    });
    const outcome = outcomeOf(call(layer(inner), method));
    await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
    expect(outcome.isPending()).toBe(true);
    expect(reached).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    const error = await outcome.settled;
    expect(error).toMatchObject({ code: 'timeout', retryable: true, details: { limitMs: LIMIT_MS } });
    expect(stopped).toBe(1);
    expect(isTimeout(reached[0]?.ctx.signal.reason)).toBe(true);
    const uri = method === 'listTemplates' || method === 'complete' ? undefined : URI;
    expect(error).toHaveProperty('uri', uri);
  });

  it.each(LIMITED)('%s ends even if its work ignores the signal', async (method) => {
    const inner = innerProvider({ before: () => new Promise(() => {}) });
    const outcome = outcomeOf(call(layer(inner), method));
    await vi.advanceTimersByTimeAsync(LIMIT_MS);
    expect(isTimeout(await outcome.settled)).toBe(true);
  });

  it.each(LIMITED)('%s ends with its caller, and has the reason of the caller', async (method) => {
    const caller = new AbortController();
    const ctx = createContext({ signal: caller.signal });
    const inner = innerProvider({ before: () => new Promise(() => {}) });
    const outcome = outcomeOf(call(layer(inner), method, ctx));
    const reason = new Error('The caller is gone');
    caller.abort(reason);
    expect(await outcome.settled).toBe(reason);
  });

  it.each(LIMITED)('%s ends at once for a caller that has left before', async (method) => {
    const reason = new Error('The caller is gone');
    const ctx = createContext({ signal: AbortSignal.abort(reason) });
    const inner = innerProvider({ before: () => new Promise(() => {}) });
    expect(await outcomeOf(call(layer(inner), method, ctx)).settled).toBe(reason);
  });

  it.each(LIMITED)('%s gets a signal that any number of listeners may use without a warning', async (method) => {
    const warned: Error[] = [];
    const warn = (warning: Error): void => void warned.push(warning);
    process.on('warning', warn);
    const inner = innerProvider({
      before: async ({ ctx }) => {
        for (let count = 0; count < 20; count++) ctx.signal.addEventListener('abort', () => {});
      },
    });
    await call(layer(inner), method);
    await new Promise(process.nextTick);
    process.off('warning', warn);
    expect(warned).toEqual([]);
  });

  it('has the time limit of its own kind, if there is one', async () => {
    const inner = innerProvider({ before: () => new Promise(() => {}) });
    const own = timeoutLayer({
      timeoutMs: LIMIT_MS,
      timeouts: { list: 1, metadata: 2, read: 3, templates: 4, complete: 5, search: 6 },
    })(inner);
    for (const [method, limitMs] of [
      ['list', 1],
      ['metadata', 2],
      ['read', 3],
      ['listTemplates', 4],
      ['complete', 5],
      ['search', 6],
    ] as const) {
      const outcome = outcomeOf(call(own, method));
      await vi.advanceTimersByTimeAsync(limitMs - 1);
      expect(outcome.isPending()).toBe(true);
      await vi.advanceTimersByTimeAsync(1);
      expect(await outcome.settled).toMatchObject({ code: 'timeout', details: { limitMs } });
    }
  });

  it('watching has no time limit', async () => {
    const caller = new AbortController();
    const ctx = createContext({ signal: caller.signal });
    const reached: Reached[] = [];
    const inner = innerProvider({ before: async (one) => void reached.push(one) });
    await call(layer(inner), 'watch', ctx);
    await vi.advanceTimersByTimeAsync(24 * 60 * 60 * 1_000);
    expect(reached[0]?.ctx.signal.aborted).toBe(false);
  });
});

describe('an operation that ends in time', () => {
  it.each(LIMITED)('%s leaves no timer and no listener behind', async (method) => {
    const caller = new AbortController();
    const ctx = createContext({ signal: caller.signal });
    await call(layer(innerProvider()), method, ctx);
    const refused = innerProvider({ before: () => Promise.reject(new ResourceError('denied', 'No')) });
    await expect(call(layer(refused), method, ctx)).rejects.toMatchObject({ code: 'denied' });
    expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('has 30 seconds by default', async () => {
    const outcome = outcomeOf(call(timeoutLayer()(innerProvider({ before: () => new Promise(() => {}) })), 'metadata'));
    await vi.advanceTimersByTimeAsync(DEFAULT_TIMEOUT_MS - 1);
    expect(outcome.isPending()).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(isTimeout(await outcome.settled)).toBe(true);
    expect(DEFAULT_TIMEOUT_MS).toBe(30_000);
  });
});

interface Traced {
  readonly body: ResourceBody;
  readonly state: { ended: boolean; closed: number };
}

/** A body with an endless stream, which gives a chunk whenever `next` resolves. */
function traced(next: () => Promise<void>): Traced {
  const state = { ended: false, closed: 0 };
  async function* open(): AsyncIterable<Uint8Array> {
    try {
      for (;;) {
        await next();
        yield new Uint8Array(10);
      }
    } finally {
      state.ended = true;
    }
  }
  const close = async (): Promise<void> => void state.closed++;
  return { body: { resource: RESOURCE, content: { kind: 'stream', open }, close }, state };
}

const readBodies = (bodies: readonly ResourceBody[], ctx = createContext()): Promise<readonly ResourceBody[]> =>
  layer(innerProvider({ bodies: () => bodies })).read(URI, EVERYTHING, ctx);

async function drain(body: ResourceBody | undefined, chunks = Number.POSITIVE_INFINITY): Promise<void> {
  let count = 0;
  if (body === undefined) return;
  for await (const _chunk of chunksOf(body.content)) if (++count >= chunks) return;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('the content of a read [RES-7]', () => {
  it('that hangs in the middle ends with a timeout, and its source is aborted', async () => {
    let chunks = 0;
    let signal: AbortSignal | undefined;
    const { body, state } = traced(async () => {
      if (++chunks <= 2) return;
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal?.reason)));
    });
    const inner = innerProvider({
      bodies: () => [body],
      before: async ({ ctx }) => {
        signal = ctx.signal;
      },
    });
    const bodies = await layer(inner).read(URI, EVERYTHING, createContext());
    const outcome = outcomeOf(drain(bodies[0]));
    await vi.advanceTimersByTimeAsync(LIMIT_MS);
    expect(await outcome.settled).toMatchObject({ code: 'timeout', uri: URI });
    expect(isTimeout(signal?.reason)).toBe(true);
    expect(state.ended).toBe(true);
    await closeBodies(bodies);
    expect(state.closed).toBe(1);
  });

  it('that trickles has one time limit for the whole', async () => {
    const { body } = traced(() => pause(LIMIT_MS / 4));
    const bodies = await readBodies([body]);
    const outcome = outcomeOf(drain(bodies[0]));
    await vi.advanceTimersByTimeAsync(LIMIT_MS);
    expect(isTimeout(await outcome.settled)).toBe(true);
    await vi.advanceTimersByTimeAsync(LIMIT_MS);
    await closeBodies(bodies);
  });

  it('that the caller leaves ends its source and its time limit', async () => {
    const { body, state } = traced(async () => {});
    const caller = new AbortController();
    const bodies = await readBodies([body], createContext({ signal: caller.signal }));
    expect(vi.getTimerCount()).toBe(1);
    await drain(bodies[0], 3);
    await vi.waitUntil(() => state.ended, { timeout: 60_000 });
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
  });

  it('that is closed unread, twice, closes its source, and ends its time limit', async () => {
    const { body, state } = traced(async () => {});
    const bodies = await readBodies([body]);
    await closeBodies([...bodies, ...bodies]);
    expect(state.closed).toBeGreaterThan(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('of several bodies has one time limit, until the last of them ends', async () => {
    const [one, two] = [traced(async () => {}), traced(async () => {})];
    const bodies = await readBodies([one.body, two.body]);
    await drain(bodies[0], 1);
    await bodies[0]?.close?.();
    expect(vi.getTimerCount()).toBe(1);
    await bodies[1]?.close?.();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that arrives too late is closed', async () => {
    const { body, state } = traced(async () => {});
    const inner = innerProvider({ bodies: () => [body], before: () => pause(3 * LIMIT_MS) });
    const outcome = outcomeOf(layer(inner).read(URI, EVERYTHING, createContext()));
    await vi.advanceTimersByTimeAsync(LIMIT_MS);
    expect(isTimeout(await outcome.settled)).toBe(true);
    expect(state.closed).toBe(0);
    await vi.advanceTimersByTimeAsync(2 * LIMIT_MS);
    expect(state.closed).toBe(1);
  });
});
