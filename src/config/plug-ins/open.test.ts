import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { memoryProvider } from '../../providers/memory/index.ts';
import type { ProviderKind } from './define-kind.ts';
import { plugInMounts } from './mounts.ts';
import { pluggedKind } from './open.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const opened = (kind: ProviderKind) =>
  pluggedKind(kind.name, new Map([[kind.name, { kind, from: 'a-package' }]])).open('wiki', {}, { base: '/' });

it('waits a minute for a provider, and closes one that comes later', async () => {
  const provider = memoryProvider({ resources: {} });
  const closed = vi.fn(async () => {});
  let come = (_late: typeof provider): void => {};
  const late = new Promise<typeof provider>((resolve) => {
    come = resolve;
  });
  let signal: AbortSignal | undefined;
  const opening = opened({
    name: 'slow',
    settings: { type: 'object' },
    create(_settings, mount) {
      signal = mount.signal;
      return late;
    },
  });
  const refused = expect(opening).rejects.toThrow('mounts.wiki: slow took longer than 60 seconds to open');
  await vi.waitFor(() => expect(signal).toBeDefined());
  await vi.advanceTimersByTimeAsync(59_000);
  expect(signal?.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  await refused;
  expect(signal?.aborted).toBe(true);
  come({ ...provider, close: closed });
  await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
});

it('gives a kind only its own settings, without the options of every mount', () => {
  const options = { prefix: 'none', icons: [], forms: 'off', skills: 'on', index: 'off' };
  expect(plugInMounts({ mounts: { wiki: { kind: 'notes', ...options, file: 'a.txt' } } })).toEqual([
    { mount: 'wiki', kind: 'notes', settings: { file: 'a.txt' } },
  ]);
});

it('says of a kind that no package adds that it does not exist', () => {
  expect(() => pluggedKind('none', undefined)).toThrow('No package under kinds adds "none"');
});
