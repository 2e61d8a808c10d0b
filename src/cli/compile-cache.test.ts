/** The folder in which Node.js keeps what it has compiled is the user's alone. */
import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { compileCacheFolder } from './compile-cache.ts';

const user = process.getuid?.();

describe.skipIf(user === undefined)('what is compiled is kept', () => {
  it('in the cache of the user, which nobody else can write to', async () => {
    await using home = await temporaryFolder();
    const folder = compileCacheFolder({ HOME: home.path });
    expect(folder).toBe(home.at('.cache/vitrine'));
    expect((await stat(home.at('.cache/vitrine'))).mode & 0o777).toBe(0o700);
  });

  it('where XDG_CACHE_HOME says, if that is a path of its own', async () => {
    await using home = await temporaryFolder({ 'cache/': '' });
    expect(compileCacheFolder({ HOME: home.path, XDG_CACHE_HOME: home.at('cache') })).toBe(home.at('cache/vitrine'));
    expect(compileCacheFolder({ HOME: home.path, XDG_CACHE_HOME: 'cache' })).toBe(home.at('.cache/vitrine'));
  });
});

describe.skipIf(user === undefined)('nothing compiled is kept', () => {
  it.each(['', '.cache', '.cache/vitrine'])('where others can write to ~/%s', async (place) => {
    await using home = await temporaryFolder();
    await mkdir(home.at('.cache/vitrine'), { recursive: true });
    await chmod(home.at(place), 0o777);
    expect(compileCacheFolder({ HOME: home.path })).toBeUndefined();
  });

  it('in a home of somebody else, as with sudo', async () => {
    await using home = await temporaryFolder();
    expect(compileCacheFolder({ HOME: home.path }, (user ?? 0) + 1)).toBeUndefined();
  });

  it('behind a link to where others can write', async () => {
    await using home = await temporaryFolder({ 'open/': '' });
    await chmod(home.at('open'), 0o777);
    await mkdir(home.at('.cache'));
    await symlink(home.at('open'), home.at('.cache/vitrine'));
    expect(compileCacheFolder({ HOME: home.path })).toBeUndefined();
  });

  it('where there can be no folder', async () => {
    await using home = await temporaryFolder();
    await writeFile(home.at('.cache'), '');
    expect(compileCacheFolder({ HOME: home.path })).toBeUndefined();
  });
});
