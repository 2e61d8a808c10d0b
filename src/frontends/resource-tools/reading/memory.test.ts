/** In its own file, so that its process does nothing else. */
import { open } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../../../test/e2e/folders.ts';
import { engineOf, structured, type WindowAnswer } from '../../../../test/tools/engine.ts';
import { filesProvider } from '../../../providers/files/index.ts';

const MEBIBYTE = 1024 * 1024;
const SMALL = 8 * MEBIBYTE;
const LARGE = 1024 * MEBIBYTE;
const ROUNDS = 12;

/** A sparse file with a few bytes at its end. */
async function sparseFile(folder: Folder, name: string, size: number, end: string): Promise<void> {
  const handle = await open(folder.at(name), 'w');
  try {
    await handle.truncate(size);
    await handle.write(end, size - Buffer.byteLength(end));
  } finally {
    await handle.close();
  }
}

const peakBytes = (): number => process.resourceUsage().maxRSS * 1024;

describe('windows of a file of 1 GiB', () => {
  it('take no more memory than those of a small one [CB-3, SEC-RES-3]', async () => {
    await using folder = await temporaryFolder();
    await sparseFile(folder, 'small.bin', SMALL, 'the end');
    await sparseFile(folder, 'large.bin', LARGE, 'the end');
    await sparseFile(folder, 'large.txt', LARGE, 'the end');
    await using engine = engineOf({ m: await filesProvider({ path: folder.path, watch: false }) });

    /** Reads windows of every size, all over a file. */
    const visit = async (name: string, size: number): Promise<void> => {
      const uri = `m+file:///${name}`;
      for (let round = 0; round < ROUNDS; round++) {
        const start_offset = Math.floor((size / ROUNDS) * round);
        for (const max_bytes of [undefined, 64 * 1024, 7 * MEBIBYTE]) {
          const result = await engine.call('read', {
            uri,
            as: 'window',
            start_offset,
            ...(max_bytes !== undefined && { max_bytes }),
          });
          const { parts } = structured<WindowAnswer>(result);
          const left = size - start_offset;
          expect(parts[0]).toMatchObject({ kind: 'base64', total_bytes: size });
          expect(parts[0]?.bytes_returned).toBe(Math.min(left, max_bytes ?? 18_750));
        }
        await engine.call('read', { uri });
        await engine.call('describe', { uri });
      }
      const end = await engine.call('read', { uri, start_offset: size - 7, max_bytes: 100 });
      const { base64 = '', text } = structured<WindowAnswer>(end).parts[0] ?? {};
      expect(text ?? Buffer.from(base64, 'base64').toString('utf8')).toBe('the end');
    };

    await visit('small.bin', SMALL);
    await visit('small.bin', SMALL);
    const before = peakBytes();
    await visit('large.bin', LARGE);
    await visit('large.txt', LARGE);
    expect(peakBytes() - before).toBeLessThan(100 * MEBIBYTE);
  });
});
