import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Context, createContext, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Engine } from '../../engine/index.ts';
import type { Subscriptions } from '../subscriptions.ts';
import { HeldSubscriptions } from './held.ts';
import type { SharedPart } from './shared-part.ts';

const URI = 'memory:///note.txt';

/** Long enough for every retry. */
const LATER_MS = 10_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The subscriptions of a session whose stream is here, and whose watches are placed by `follow`. */
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
  it('is reported, and tried again, when its watch cannot be placed', async () => {
    const { held, updated, watches } = openHere(async () => {
      throw new ResourceError('unavailable', 'not now');
    });
    held.subscribed(URI);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(updated).toEqual([URI, URI]);
    expect(watches.follow).toHaveBeenCalledTimes(2);
  });

  it('is neither reported nor tried again if it ends while its watch is being placed, and that fails', async () => {
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

  it('is not reported if it ends while its watch is being placed', async () => {
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
