import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createListening, type ListeningLink } from './listening.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A connection whose server never answers, and the watches over it. */
function scene(era: 'legacy' | 'modern') {
  const never = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const link: ListeningLink = {
    era,
    ended: false,
    request: (_method, _params, { signal }) => never(signal),
    listen: (_filter, { signal }) => never(signal),
  };
  const listening = createListening<ListeningLink, () => void>({
    connection: { get: async () => link, current: link, keep: () => ({ [Symbol.dispose]() {} }) },
    timeoutMs: 1_000,
    tells: () => true,
    subscribes: () => true,
    refusal: () => new Error('refused'),
    reopened() {},
    restored() {},
  });
  return { link, listening };
}

it('nothing is tried again after the end: a list whose stream was being opened', async () => {
  const { link, listening } = scene('modern');
  listening.addTo('tools', () => {});
  const opening = listening.listen(link).catch(() => listening.listenLater(link));
  await new Promise(setImmediate);
  await listening.close(new Error('over'));
  await opening;
  expect(vi.getTimerCount()).toBe(0);
});

it.each(['legacy', 'modern'] as const)('nor what a new connection of %s was restoring', async (era) => {
  const { link, listening } = scene(era);
  listening.addTo('tools', () => {});
  const added = listening.add('x:a', () => {});
  added.catch(() => {});
  const restoring = listening.restore(link);
  await new Promise(setImmediate);
  await listening.close(new Error('over'));
  await restoring;
  await new Promise(setImmediate);
  expect(vi.getTimerCount()).toBe(0);
});
