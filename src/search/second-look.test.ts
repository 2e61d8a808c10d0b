import { open, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { engineOf, structured, textOf } from '../../test/tools/engine.ts';
import { filesProvider } from '../providers/files/index.ts';
import { MAX_FOLLOWED } from './following.ts';
import { createIndex } from './index.ts';

it('finds text that is written to a file after it was seen empty', async () => {
  await using folder = await temporaryFolder({ 'a.md': 'The brass clock' });
  await using place = await temporaryFolder({});
  const index = createIndex({ folder: place.path, rescanSeconds: 3_600 });
  await using engine = engineOf({ m: await filesProvider({ path: folder.path }) }, { index });
  await engine.vitrine.ranked?.settled();
  const find = async (pattern: string): Promise<number> => {
    const result = await engine.call('search', { pattern, mode: 'ranked' });
    if (result.isError) throw new Error(textOf(result));
    return structured<{ matches: readonly unknown[] }>(result).matches.length;
  };
  for (const [at, ms] of [0, 5, 15, 25, 30, 35, 40, 45, 50, 60].entries()) {
    const file = await open(join(folder.path, `late${at}.md`), 'w');
    await pause(ms);
    await file.writeFile(`A walnut${at} case`);
    await file.close();
    await expect.poll(() => find(`walnut${at}`), { timeout: 10_000 }).toBe(1);
  }
});

it('finds text that is written after the file was read, and before it was watched', async () => {
  const files = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${at}.md`, 'The brass clock']));
  await using folder = await temporaryFolder({ ...files, 'z.md': '' });
  await using place = await temporaryFolder({});
  const index = createIndex({ folder: place.path, rescanSeconds: 3_600 });
  await using engine = engineOf({ m: await filesProvider({ path: folder.path }) }, { index });
  await engine.vitrine.ranked?.settled();
  await writeFile(join(folder.path, 'z.md'), 'A walnut case');
  const find = async (pattern: string): Promise<number> => {
    const result = await engine.call('search', { pattern, mode: 'ranked' });
    if (result.isError) throw new Error(textOf(result));
    return structured<{ matches: readonly unknown[] }>(result).matches.length;
  };
  await expect.poll(() => find('walnut'), { timeout: 10_000 }).toBe(1);
});

it('finds an edit of any of many files, and of targets of links', async () => {
  const files = Object.fromEntries(Array.from({ length: MAX_FOLLOWED + 50 }, (_, at) => [`some/${at}.md`, 'clock']));
  await using folder = await temporaryFolder({ ...files, 'some/zz.md': 'The brass clock', 'far/target.md': 'far' });
  await symlink(join(folder.path, 'far/target.md'), join(folder.path, 'some/zzz.md'));
  await using place = await temporaryFolder({});
  const index = createIndex({ folder: place.path, rescanSeconds: 3_600 });
  await using engine = engineOf({ m: await filesProvider({ path: folder.path }) }, { index });
  const find = async (pattern: string): Promise<readonly string[]> => {
    const result = await engine.call('search', { pattern, mode: 'ranked' });
    if (result.isError) throw new Error(textOf(result));
    const { matches, building } = structured<{ matches: readonly { uri: string }[]; building?: boolean }>(result);
    return building === true ? ['building'] : matches.map(({ uri }) => uri.replace(/^.*\//, '')).sort();
  };
  await expect.poll(() => find('brass'), { timeout: 60_000 }).toEqual(['zz.md']);
  // The last resource that was found, and has to be watched.
  await writeFile(join(folder.path, 'some/new.md'), 'A first case');
  await expect.poll(() => find('first'), { timeout: 20_000 }).toEqual(['new.md']);
  await writeFile(join(folder.path, 'some/zz.md'), 'A walnut case');
  await expect.poll(() => find('walnut'), { timeout: 20_000 }).toEqual(['zz.md']);
  await writeFile(join(folder.path, 'far/target.md'), 'A cherry case');
  await expect.poll(() => find('cherry'), { timeout: 20_000 }).toEqual(['target.md', 'zzz.md']);
});
