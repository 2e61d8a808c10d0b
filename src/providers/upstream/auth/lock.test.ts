import { access, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locked } from './lock.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-lock-'));
  path = join(folder, 'file.lock');
});

afterEach(() => rm(folder, { recursive: true }));

describe('a lock', () => {
  it('lets one in at a time, and everybody in the end', async () => {
    let inside = 0;
    const seen: number[] = [];
    const work = async (): Promise<void> => {
      inside++;
      await new Promise(setImmediate);
      seen.push(inside);
      inside--;
    };
    await Promise.all(Array.from({ length: 8 }, () => locked(path, work)));
    expect(seen).toEqual(Array.from({ length: 8 }, () => 1));
    await expect(access(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is given back when the work fails', async () => {
    const failing = locked(path, async () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await locked(path, async () => 'again')).toBe('again');
  });

  it('that was left by a process that died is taken over', async () => {
    await writeFile(path, '');
    const longAgo = new Date(Date.now() - 120_000);
    await utimes(path, longAgo, longAgo);
    expect(await locked(path, async () => 'in')).toBe('in');
  });

  it('that cannot be made is an error of its own', async () => {
    await expect(locked(join(folder, 'missing', 'lock'), async () => 'in')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
