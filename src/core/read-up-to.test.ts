import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readUpTo } from './read-up-to.ts';

describe('a file that is read up to a limit', () => {
  let folder: string;
  const at = (name: string): string => join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('is read if it has as many bytes, and not if it has one more', async () => {
    await writeFile(at('euros'), '€€');
    expect(String(await readUpTo(at('euros'), 6))).toBe('€€');
    expect(await readUpTo(at('euros'), 5)).toBeUndefined();
    expect(await readUpTo(at('euros'), 2)).toBeUndefined();
  });

  it('may be empty', async () => {
    await writeFile(at('empty'), '');
    expect(await readUpTo(at('empty'), 0)).toEqual(Buffer.alloc(0));
    await writeFile(at('one'), 'a');
    expect(await readUpTo(at('one'), 0)).toBeUndefined();
  });

  it('is not read further if it is larger than memory', async () => {
    await writeFile(at('huge'), '');
    await truncate(at('huge'), 2 ** 36);
    expect(await readUpTo(at('huge'), 1_000)).toBeUndefined();
  });

  it('has the error of the system if it is missing, or a folder', async () => {
    await expect(readUpTo(at('missing'), 1)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(readUpTo(folder, 1)).rejects.toMatchObject({ code: 'EISDIR' });
  });
});
