/** Keeps digests of settled files, and of no others. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createContext } from '../../core/context.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { createDigests } from './digests.ts';

const URI = 'skill:///a.txt';
const ctx = createContext();

describe('the digest of a file', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime('2026-01-02T03:04:10.623Z');
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['half a second before it was read is kept', '2026-01-02T03:04:10.123Z', true],
    ['a moment before it was read is not kept', '2026-01-02T03:04:10.600Z', false],
    ['less than two seconds before it was read, in whole seconds, is not kept', '2026-01-02T03:04:09Z', false],
    [
      'less than two seconds before it was read, with an empty fraction, is not kept',
      '2026-01-02T03:04:09.000Z',
      false,
    ],
    ['more than two seconds before it was read, in whole seconds, is kept', '2026-01-02T03:04:08Z', true],
  ])('that was changed %s', async (_, lastModified, expected) => {
    const provider = memoryProvider({
      scheme: 'skill',
      resources: { 'a.txt': { text: 'one', annotations: { lastModified } } },
    });
    const digests = createDigests(provider, 1_000);
    const resource = await provider.metadata(URI, ctx);
    await digests.of(resource, false, ctx);
    expect(digests.isKept(resource)).toBe(expected);
  });
});
