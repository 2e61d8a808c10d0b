/** An operation that takes too long ends with an error, and the server goes on. */
import { truncate } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { failure, readOne } from './answers.ts';
import { temporaryFolder, writeConfig } from './folders.ts';
import { connect, MATRIX } from './harness.ts';
import { until } from './waiting.ts';

const GIBIBYTE = 1024 ** 3;

describe.each(MATRIX)('timeouts over $transport, $era', ({ transport, era }) => {
  it('end a long read, name the limit, and leave the server working [RES-7, RES-6]', async () => {
    await using folder = await temporaryFolder({ 'data/long.bin': '', 'data/short.txt': 'short' });
    await truncate(folder.at('data', 'long.bin'), GIBIBYTE);
    const config = await writeConfig(folder, {
      limits: { timeoutSeconds: 0.1, maxReadBytes: GIBIBYTE },
      mounts: { data: './data' },
    });
    await using server = await connect(transport, era, ['--config', config]);
    const refused = await failure(server.request('resources/read', { uri: 'data+file:///long.bin' }));
    expect(refused).toMatchObject({
      code: -32603,
      message: expect.stringContaining('100 ms'),
      data: { uri: 'data+file:///long.bin', reason: 'timeout', retryable: true, limitMs: 100 },
    });
    // On a busy machine even a short read may take too long once.
    const short = await until(() => readOne(server, 'data+file:///short.txt').catch(() => undefined), 'a short read');
    expect(short.text).toBe('short');
  });
});
