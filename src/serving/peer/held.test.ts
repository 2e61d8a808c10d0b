import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Context, createContext, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Engine } from '../../engine/index.ts';
import { Subscriptions } from '../subscriptions.ts';
import { HeldSubscriptions } from './held.ts';
import type { SharedPart } from './shared-part.ts';

const URI = 'memory:///note.txt';

/** Long enough for every retry. */
const LATER_MS = 10_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The subscriptions of a session whose stream is at this replica; `follow` places its watches. */
function openHere(follow: () => Promise<void>, context: () => Promise<Context> = async () => createContext()) {
  const updated: string[] = [];
  const watches = { follow: vi.fn(follow), remove: vi.fn(async () => {}), releaseAll: vi.fn(async () => {}) };
  const held = new HeldSubscriptions({
    engine: {} as Engine,
    part: { subscriptions: async () => [] } as unknown as SharedPart,
    subscriptions: watches as unknown as Subscriptions,
    log: SILENT,
    context,
    updated: (uri) => updated.push(uri),
  });
  held.begin();
  return { held, updated, watches };
}

describe('a subscription of a session that replicas share', () => {
  it('is reported as updated, and its watch is tried again, when the watch cannot be placed', async () => {
    const { held, updated, watches } = openHere(async () => {
      throw new ResourceError('unavailable', 'not now');
    });
    held.subscribed(URI);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(updated).toEqual([URI, URI]);
    expect(watches.follow).toHaveBeenCalledTimes(2);
  });

  it('is neither reported as updated nor tried again if it ends before its watch fails', async () => {
    let fail: (error: Error) => void = () => {};
    const { held, updated, watches } = openHere(() => new Promise<void>((_, reject) => (fail = reject)));
    held.subscribed(URI);
    await vi.advanceTimersByTimeAsync(0);
    held.unsubscribed(URI);
    fail(new ResourceError('unavailable', 'not now'));
    await vi.advanceTimersByTimeAsync(LATER_MS);
    expect(watches.follow).toHaveBeenCalledTimes(1);
    expect(updated).toEqual([]);
  });

  it('is not reported as updated if it ends while its watch is being placed', async () => {
    let place: () => void = () => {};
    const { held, updated, watches } = openHere(() => new Promise<void>((resolve) => (place = resolve)));
    held.subscribed(URI);
    await vi.advanceTimersByTimeAsync(0);
    held.unsubscribed(URI);
    place();
    await vi.advanceTimersByTimeAsync(LATER_MS);
    expect(watches.remove).toHaveBeenCalledWith(URI);
    expect(updated).toEqual([]);
  });

  it.each([
    ['it has ended', (held: HeldSubscriptions) => held.unsubscribed(URI)],
    ['the stream has ended', (held: HeldSubscriptions) => void held.rest()],
  ])('gets no watch if %s before the roots of the client are known', async (_, end) => {
    let answer: (ctx: Context) => void = () => {};
    const roots = new Promise<Context>((resolve) => (answer = resolve));
    const { held, watches } = openHere(
      async () => {},
      () => roots,
    );
    held.subscribed(URI);
    await vi.advanceTimersByTimeAsync(0);
    end(held);
    answer(createContext());
    await vi.advanceTimersByTimeAsync(LATER_MS);
    expect(watches.follow).not.toHaveBeenCalled();
  });
});

/** Waits until all pending work that is not blocked has run. */
const settled = () => vi.advanceTimersByTimeAsync(0);

/** A requested watch. The test places it or lets it fail; `ended` is whether it was disposed of. */
interface Watch {
  place(): void;
  fail(): void;
  failed: boolean;
  ended: boolean;
}

/**
 * The subscriptions of a session, with the real `Subscriptions`, which count them. The test decides when each watch is placed, or
 * fails.
 */
function counted() {
  const watches: Watch[] = [];
  const noted = new Set<string>();
  const updated: string[] = [];
  const away = { notes: false };
  let contexts = 0;
  let giveContext = (): void => {};
  const engine = {
    admission: { run: (_request: unknown, _ctx: unknown, work: () => unknown) => work() },
    provider: {
      metadata: async () => ({ capabilities: { subscribe: true } }),
      subscribe: () =>
        new Promise<AsyncDisposable>((resolve, reject) => {
          const one: Watch = {
            place: () => resolve({ [Symbol.asyncDispose]: async () => void Object.assign(one, { ended: true }) }),
            fail: () => {
              one.failed = true;
              reject(new ResourceError('unavailable', 'not now'));
            },
            failed: false,
            ended: false,
          };
          watches.push(one);
        }),
    },
  } as unknown as Engine;
  const held = new HeldSubscriptions({
    engine,
    part: {
      subscriptions: async () => [...noted],
      async subscribe(uri: string) {
        if (away.notes) throw new ResourceError('unavailable', 'the bus is away');
        noted.add(uri);
      },
      unsubscribe: async (uri: string) => void noted.delete(uri),
    } as unknown as SharedPart,
    subscriptions: new Subscriptions(engine, { updated: () => {}, listChanged: () => {} }),
    log: SILENT,
    // The test decides when the second context of the session is given.
    context: () =>
      contexts++ === 1
        ? new Promise((resolve) => (giveContext = () => resolve(createContext())))
        : Promise.resolve(createContext()),
    updated: (uri) => updated.push(uri),
  });
  const call = async (name: string): Promise<string> => {
    try {
      await held.methods.get(name)?.run({ uri: URI } as never, createContext() as never);
      return 'done';
    } catch (error) {
      return error instanceof ResourceError ? error.code : String(error);
    }
  };
  return {
    held,
    watches,
    noted,
    updated,
    away,
    giveContext: () => giveContext(),
    /** The number of watches that were placed, or still are being placed, and were not ended. */
    open: () => watches.filter(({ ended, failed }) => !ended && !failed).length,
    subscribe: () => call('resources/subscribe'),
    unsubscribe: () => call('resources/unsubscribe'),
  };
}

describe('two requests that subscribe to one URI at the same time', () => {
  it('are both answered only when the watch is placed', async () => {
    const { held, watches, subscribe } = counted();
    held.begin();
    const answers: string[] = [];
    for (const answer of [subscribe(), subscribe()]) void answer.then((each) => answers.push(each));
    await settled();
    expect([watches.length, answers]).toEqual([1, []]);
    watches[0]?.place();
    await settled();
    expect(answers).toEqual(['done', 'done']);
  });

  it('are watched or refused separately if the first watch fails', async () => {
    const { held, watches, noted, open, subscribe, unsubscribe } = counted();
    held.begin();
    const [first, second] = [subscribe(), subscribe()];
    await settled();
    watches[0]?.fail();
    expect(await first).toBe('unavailable');
    await settled();
    expect([watches.length, [...noted]]).toEqual([2, []]);
    watches[1]?.place();
    expect(await second).toBe('done');
    expect([...noted]).toEqual([URI]);
    await unsubscribe();
    await settled();
    expect(open()).toBe(0);
    expect(watches[1]?.ended).toBe(true);
  });

  it('leave no watch if neither subscription can be noted', async () => {
    const { held, watches, away, open, subscribe } = counted();
    held.begin();
    away.notes = true;
    const both = [subscribe(), subscribe()];
    await settled();
    watches[0]?.place();
    expect(await Promise.all(both)).toEqual(['unavailable', 'unavailable']);
    await settled();
    expect(open()).toBe(0);
  });
});

describe('a subscription whose watch is being placed', () => {
  it('is watched once if the stream ends and begins again before the roots of the client are known', async () => {
    const { held, watches, noted, giveContext, open, unsubscribe } = counted();
    noted.add(URI);
    held.begin();
    await settled();
    watches[0]?.place();
    await held.rest();
    held.begin();
    await settled();
    // The context of this second watch is given late.
    await held.rest();
    held.begin();
    await settled();
    watches[1]?.place();
    giveContext();
    await settled();
    expect(watches.length).toBe(2);
    await unsubscribe();
    await settled();
    expect(open()).toBe(0);
  });

  it('keeps the new watch if the stream begins again and the former watch fails then', async () => {
    const { held, watches, noted, giveContext, updated, unsubscribe } = counted();
    noted.add(URI);
    held.begin();
    await settled();
    void held.rest();
    held.begin();
    await settled();
    giveContext();
    await settled();
    watches[0]?.fail();
    watches[1]?.place();
    await settled();
    expect(updated).toEqual([URI]);
    await unsubscribe();
    await settled();
    expect(watches[1]?.ended).toBe(true);
  });

  it('is watched if the stream begins again while a request that subscribes waits', async () => {
    const { held, watches, open, subscribe, giveContext } = counted();
    held.begin();
    const answer = subscribe();
    await settled();
    const resting = held.rest();
    held.begin();
    await settled();
    watches[0]?.place();
    await resting;
    expect(await answer).toBe('done');
    await settled();
    giveContext();
    await settled();
    watches[1]?.place();
    await settled();
    expect(open()).toBe(1);
  });
});

it('a subscription that is tried again, and is requested meanwhile, is watched once', async () => {
  const { held, watches, noted, open, giveContext, subscribe, unsubscribe } = counted();
  noted.add(URI);
  held.begin();
  await settled();
  watches[0]?.fail();
  await settled();
  const answer = subscribe();
  await settled();
  watches[1]?.place();
  expect(await answer).toBe('done');
  await vi.advanceTimersByTimeAsync(LATER_MS);
  giveContext();
  await settled();
  await unsubscribe();
  await settled();
  expect([watches.length, watches[1]?.ended, open()]).toEqual([2, true, 0]);
});
