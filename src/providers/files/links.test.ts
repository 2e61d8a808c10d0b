/** The links on a path: where they lead, and errors that leave it open. */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../test/e2e/folders.ts';
import { refused, serveFiles } from '../../../test/security/served.ts';
import { wayOf } from './links.ts';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** Lets the system refuse to read the link at a path. */
function refuseLink(path: string, code: string): void {
  const { readlink } = fs;
  const refusing = async (asked: string): Promise<string> => {
    if (asked === path) throw Object.assign(new Error(code), { code });
    return readlink(asked);
  };
  vi.spyOn(fs, 'readlink').mockImplementation(refusing as typeof readlink);
  syncBuiltinESMExports();
}

describe.runIf(process.platform !== 'win32')('the way of a path', () => {
  it('goes over links to the end, whether or not a file is there, and not out of the root', async () => {
    await using folder = await temporaryFolder({ 'd/a.txt': '' });
    const root = await fs.realpath(folder.path);
    await fs.symlink('d', folder.at('l'));
    await fs.symlink('gone/x', folder.at('broken'));
    await fs.symlink('../..', folder.at('d/out'));
    await fs.symlink('circle', folder.at('circle'));
    expect(await wayOf(root, ['d', 'a.txt'])).toEqual({ links: [], end: ['d', 'a.txt'] });
    expect(await wayOf(root, ['l', 'a.txt'])).toEqual({ links: [['l']], end: ['d', 'a.txt'] });
    expect(await wayOf(root, ['broken'])).toEqual({ links: [['broken']], end: ['gone', 'x'] });
    expect(await wayOf(root, ['d', 'a.txt', 'no'])).toEqual({ links: [], end: ['d', 'a.txt', 'no'] });
    expect(await wayOf(root, ['l', 'out'])).toEqual({ links: [['l'], ['d', 'out']], end: undefined });
    expect((await wayOf(root, ['circle'])).end).toBeUndefined();
  });

  it.each(['ENOENT', 'ENOTDIR', 'EINVAL', 'EACCES', 'EPERM', 'ENAMETOOLONG', 'ENOSYS', 'EISDIR'])(
    'goes on where there is no link: %s',
    async (code) => {
      await using folder = await temporaryFolder({});
      const root = await fs.realpath(folder.path);
      refuseLink(`${root}/x`, code);
      expect(await wayOf(root, ['x', 'y'])).toEqual({ links: [], end: ['x', 'y'] });
    },
  );

  it.each(['EIO', 'EMFILE', 'ENOMEM', 'ESTALE', 'ENOTCONN'])('fails where it is not known: %s', async (code) => {
    await using folder = await temporaryFolder({ 'd/a.txt': '' });
    const root = await fs.realpath(folder.path);
    await fs.symlink('d', folder.at('l'));
    refuseLink(`${root}/l`, code);
    await expect(wayOf(root, ['l', 'a.txt'])).rejects.toMatchObject({ code });
  });

  it('refuses a watch whose link cannot be read for the moment', async () => {
    await using place = await serveFiles({ 'd/a.txt': '' });
    await fs.symlink('d', place.folder.at('l'));
    refuseLink(place.folder.at('l'), 'EIO');
    expect(await refused(place.served.watch('file:///l/a.txt'))).toBe('unavailable');
  });
});
