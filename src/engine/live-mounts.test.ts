import { afterEach, expect, it, vi } from 'vitest';
import type { Bus } from '../core/bus.ts';
import { defineProvider } from '../core/define-provider.ts';
import type { Mount } from '../core/mounts/mount.ts';
import { busAt, createHub } from '../serving/bus/hub.ts';
import { createLiveMounts, type NamedParts } from './live-mounts.ts';
import { createOneWatcher } from './one-watcher/index.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A bus that counts its listeners. */
function countingBus(bus: Bus): { readonly bus: Bus; listeners: number } {
  const counting = { bus, listeners: 0 };
  const counted = (remove: () => void): (() => void) => {
    counting.listeners++;
    return () => {
      counting.listeners--;
      remove();
    };
  };
  counting.bus = {
    ...bus,
    listen: (topic, listener) => counted(bus.listen(topic, listener)),
    onMended: (listener) => counted(bus.onMended(listener)),
  };
  return counting;
}

const mountOf = (name: string): Mount => ({
  name,
  provider: defineProvider({
    scheme: 'note',
    list: () => [{ uri: 'note:a' }],
    read: () => 'a',
    watch: () => () => {},
    heard: () => {},
  }),
});

it('ambiguous mounts are refused, and leave no listeners at the bus', async () => {
  const hub = createHub();
  const counting = countingBus(busAt(hub));
  const oneWatcher = createOneWatcher(counting.bus);
  const live = createLiveMounts({
    replaceable: true,
    oneWatcher,
    withState: (mounts) => mounts,
    partsOf: () => ({ folders: [] }) as unknown as NamedParts,
  });
  const first = mountOf('a');
  live.begin({ mounts: [first] });
  const before = counting.listeners;
  expect(before).toBeGreaterThan(0);
  await expect(live.replace({ mounts: [first, mountOf('b'), mountOf('b')] })).rejects.toThrow('b');
  expect(counting.listeners).toBe(before);
  expect(live.mounts).toEqual([first]);
  await oneWatcher.close();
  expect(counting.listeners).toBe(0);
  await counting.bus.close();
  hub.close();
});

it.each([4_999, 5_000])('closing waits for mounts that were removed %d ms ago', async (elapsedMs) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const hub = createHub();
  const bus = busAt(hub);
  const oneWatcher = createOneWatcher(bus);
  const live = createLiveMounts({
    replaceable: true,
    oneWatcher,
    withState: (mounts) => mounts,
    partsOf: () => ({ folders: [] }) as unknown as NamedParts,
  });
  let end = (): void => {};
  let closes = 0;
  const removed = mountOf('a');
  const close = (): Promise<void> => {
    closes++;
    return new Promise((resolve) => {
      end = resolve;
    });
  };
  live.begin({ mounts: [{ ...removed, provider: { ...removed.provider, close } }] });
  await live.replace({ mounts: [] });
  await vi.advanceTimersByTimeAsync(elapsedMs);
  let isOver = false;
  const over = live.tree.close?.().then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect({ closes, isOver }).toEqual({ closes: 1, isOver: false });
  end();
  await over;
  await oneWatcher.close();
  await bus.close();
  hub.close();
});
