/** Many subscriptions at once over one connection of the client library. */
import { describe, expect, it } from 'vitest';
import { connectResourceClient } from '../../src/client/node/index.ts';
import { MATRIX } from '../e2e/harness.ts';
import { within } from '../e2e/waiting.ts';
import { faulty } from '../gateway/faults/faulty.ts';

/** More listeners of one signal than Node.js accepts without a warning. */
const WATCHES = 50;

describe.each(MATRIX)('a server of the $era era over $transport', (way) => {
  it('accepts many subscriptions at once without a warning of leaks', async () => {
    const warnings: Error[] = [];
    const noted = (warning: Error): void => void warnings.push(warning);
    process.on('warning', noted);
    try {
      await using server = await faulty(way);
      await using resources = await connectResourceClient(server.target);
      const ended = new AbortController();
      const uris = Array.from({ length: WATCHES }, (_, at) => `thing:///${at}`);
      const lasting = uris.map((uri) => resources.watch(uri));
      const passing = uris.map((uri) => resources.watch(uri, { signal: ended.signal }));
      await within(Promise.all([...lasting, ...passing].map(({ ready }) => ready)), 'the subscriptions');
      ended.abort('enough');
      for (const watch of passing) await expect(watch[Symbol.asyncIterator]().next()).rejects.toBe('enough');
      await Promise.all(lasting.map((watch) => watch.close()));
    } finally {
      process.off('warning', noted);
    }
    expect(warnings).toEqual([]);
  });
});
