/** Node.js keeps compiled code only in a folder that nobody but the user can write to. */
import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { compileCacheFolder } from './compile-cache.ts';

const user = process.getuid?.();

describe.skipIf(user === undefined)('compiled code is kept', () => {
  it('in the cache of the user, which nobody else can write to', async () => {
    await using home = await temporaryFolder();
    const folder = compileCacheFolder({ HOME: home.path });
    expect(folder).toBe(home.at('.cache/vitrine'));
    expect(compileCacheFolder({ HOME: home.path })).toBe(folder);
    expect((await stat(home.at('.cache/vitrine'))).mode & 0o777).toBe(0o700);
  });

  it('in XDG_CACHE_HOME, if that is an absolute path', async () => {
    await using home = await temporaryFolder({ 'cache/': '' });
    expect(compileCacheFolder({ HOME: home.path, XDG_CACHE_HOME: home.at('cache') })).toBe(home.at('cache/vitrine'));
    expect(compileCacheFolder({ HOME: home.path, XDG_CACHE_HOME: 'cache' })).toBe(home.at('.cache/vitrine'));
    expect(compileCacheFolder({ XDG_CACHE_HOME: home.at('a/b/c') })).toBe(home.at('a/b/c/vitrine'));
  });
});

describe.skipIf(user === undefined)('no compiled code is kept', () => {
  it.each(['', '.cache', '.cache/vitrine'])('where others can write to ~/%s', async (place) => {
    await using home = await temporaryFolder();
    await mkdir(home.at('.cache/vitrine'), { recursive: true });
    await chmod(home.at(place), 0o777);
    expect(compileCacheFolder({ HOME: home.path })).toBeUndefined();
  });

  it('in the home of another user, as with sudo', async () => {
    await using home = await temporaryFolder();
    expect(compileCacheFolder({ HOME: home.path }, (user ?? 0) + 1)).toBeUndefined();
  });

  it('behind a link to a folder that others can write to', async () => {
    await using home = await temporaryFolder({ 'open/': '' });
    await chmod(home.at('open'), 0o777);
    await mkdir(home.at('.cache'));
    await symlink(home.at('open'), home.at('.cache/vitrine'));
    expect(compileCacheFolder({ HOME: home.path })).toBeUndefined();
  });

  it.each(['', '.cache'])('and no folder is made for it, where others can write to ~/%s', async (place) => {
    await using home = await temporaryFolder({ '.cache/': '' });
    await chmod(home.at(place), 0o777);
    expect(compileCacheFolder({ HOME: home.path })).toBeUndefined();
    expect(await readdir(home.at('.cache'))).toEqual([]);
  });

  it('and no folder is made for it, in the home of another user', async () => {
    await using home = await temporaryFolder();
    expect(compileCacheFolder({ HOME: home.path }, (user ?? 0) + 1)).toBeUndefined();
    expect(await readdir(home.path)).toEqual([]);
  });

  it('and no folder is made for it, where others can write to the folder around XDG_CACHE_HOME', async () => {
    await using home = await temporaryFolder({ 'open/': '' });
    await chmod(home.at('open'), 0o777);
    expect(compileCacheFolder({ HOME: home.path, XDG_CACHE_HOME: home.at('open/cache') })).toBeUndefined();
    expect(await readdir(home.at('open'))).toEqual([]);
  });

  it('and no folder is made for it, where there are no users, as on Windows', async () => {
    await using home = await temporaryFolder();
    vi.spyOn(process, 'getuid').mockReturnValue(undefined as never);
    expect(compileCacheFolder({ HOME: home.path })).toBeUndefined();
    expect(compileCacheFolder({ HOME: home.path, XDG_CACHE_HOME: home.at('a/b/c') })).toBeUndefined();
    vi.restoreAllMocks();
    expect(await readdir(home.path)).toEqual([]);
  });

  it('where no folder can be made', async () => {
    await using home = await temporaryFolder();
    await writeFile(home.at('.cache'), '');
    expect(compileCacheFolder({ HOME: home.path })).toBeUndefined();
  });
});
