/** Tests pages of direct children, and the completion of paths. */
import { execFile } from 'node:child_process';
import { symlink, unlink, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/e2e/folders.ts';
import { refused, serve } from '../../../test/security/served.ts';
import { createContext } from '../../core/context.ts';

const run = promisify(execFile);

describe('a list', () => {
  it('has directories first, sorted by name, with the metadata of each entry', async () => {
    await using folder = await temporaryFolder({
      'b.md': '# b',
      'a.json': '{}',
      'Z/x': '',
      'y/x': '',
      'é ü%#?.txt': 'x',
    });
    await symlink('y', folder.at('link'));
    await using served = await serve({ path: folder.path });
    const listed = await served.list('file:///');
    expect(listed.map(({ name }) => name)).toEqual(['Z', 'y', 'a.json', 'b.md', 'link', 'é ü%#?.txt']);
    for (const resource of listed) expect(await served.metadata(resource.uri)).toEqual(resource);
    expect(listed.map(({ capabilities }) => capabilities?.list)).toEqual([true, true, false, false, true, false]);
  });

  it.each([1, 2, 3, 7, 100])('is the same in pages of %d', async (limit) => {
    await using folder = await temporaryFolder(
      Object.fromEntries(Array.from({ length: 25 }, (_, index) => [index % 4 === 0 ? `d${index}/x` : `f${index}`, ''])),
    );
    await using served = await serve({ path: folder.path });
    expect(await served.list('file:///', limit)).toEqual(await served.list('file:///', 1_000));
  });

  it('goes on after more broken links than a page has room for', async () => {
    await using folder = await temporaryFolder({ 'zz.txt': 'z', outside: '' });
    for (let index = 0; index < 300; index++) {
      await symlink(index % 2 === 0 ? '/etc/passwd' : 'missing', folder.at(`link-${String(index).padStart(3, '0')}`));
    }
    await using served = await serve({ path: folder.path });
    for (const limit of [1, 10, 1_000]) {
      expect((await served.list('file:///', limit)).map(({ name }) => name)).toEqual(['outside', 'zz.txt']);
    }
  });

  it('goes on after an entry that was deleted, and after one that changed its kind', async () => {
    await using folder = await temporaryFolder({ a: '', b: '', c: '', d: '', e: '' });
    await using served = await serve({ path: folder.path });
    const ctx = createContext();
    const first = await served.provider.list('file:///', { limit: 2 }, ctx);
    await unlink(folder.at('b'));
    const second = await served.provider.list('file:///', { limit: 2, cursor: first.nextCursor }, ctx);
    expect(second.resources.map(({ name }) => name)).toEqual(['c', 'd']);
    await unlink(folder.at('d'));
    await symlink('a', folder.at('d'));
    const third = await served.provider.list('file:///', { limit: 2, cursor: second.nextCursor }, ctx);
    expect(third.resources.map(({ name }) => name)).toEqual(['e']);
    expect(third.nextCursor).toBeUndefined();
  });

  it('refuses cursors of other providers', async () => {
    await using folder = await temporaryFolder({ a: '' });
    await using served = await serve({ path: folder.path });
    for (const cursor of ['', 'x', '17', 'zname', '\u0000']) {
      expect(await refused(served.provider.list('file:///', { limit: 1, cursor }, createContext()))).toBe('invalid');
    }
  });

  it('takes any name in a cursor for a name, and nothing else', async () => {
    await using folder = await temporaryFolder({ 'root/a': '', 'root/b': '', secret: '' });
    await using served = await serve({ path: folder.at('root') });
    for (const name of ['../secret', '/etc/passwd', '..', '\u0000', 'a/../../secret', '']) {
      const page = await served.provider.list('file:///', { limit: 10, cursor: `f${name}` }, createContext());
      expect(page.resources.every((resource) => ['a', 'b'].includes(resource.name))).toBe(true);
    }
  });

  it('is refused for files, and for missing paths, with different errors [2093-4]', async () => {
    await using folder = await temporaryFolder({ 'a.txt': '' });
    await symlink('a.txt', folder.at('link'));
    await using served = await serve({ path: folder.path });
    expect(await refused(served.list('file:///a.txt'))).toBe('not-listable');
    expect(await refused(served.list('file:///link'))).toBe('not-listable');
    expect(await refused(served.list('file:///gone'))).toBe('not-found');
    expect(await refused(served.list('file:///a.txt/gone'))).toBe('not-found');
  });

  it('has no links if they are turned off', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'a', 'sub/b.txt': 'b' });
    await symlink('a.txt', folder.at('file-link'));
    await symlink('sub', folder.at('folder-link'));
    await using served = await serve({ path: folder.path, symlinks: false });
    expect(await served.names('file:///')).toEqual(['sub', 'a.txt']);
    expect(await served.text('file:///')).toBe('a');
    expect(await served.complete('')).toEqual(['sub/', 'a.txt']);
    expect(await served.complete('folder-link/')).toEqual([]);
    for (const path of ['file-link', 'folder-link', 'folder-link/b.txt']) {
      expect(await refused(served.text(`file:///${path}`)), path).toBe('not-found');
      expect(await refused(served.metadata(`file:///${path}`)), path).toBe('not-found');
      expect(await refused(served.list(`file:///${path}`)), path).toBe('not-found');
    }
  });

  it.each([
    '1901-12-14T00:00:00.000Z',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:00:00.000Z',
    '2400-01-01T00:00:00.500Z',
  ])('has the time %s', async (time) => {
    await using folder = await temporaryFolder({ 'a.txt': '' });
    await run('touch', ['-d', time, folder.at('a.txt')]);
    await using served = await serve({ path: folder.path });
    const [listed] = await served.list('file:///');
    expect(listed?.annotations?.lastModified).toBe(time);
    expect((await served.metadata('file:///a.txt')).annotations?.lastModified).toBe(time);
  });

  it('stops when it is aborted', async () => {
    await using folder = await temporaryFolder({ a: '' });
    for (let index = 0; index < 50; index++) await writeFile(folder.at(`f${index}`), '');
    await using served = await serve({ path: folder.path });
    const signal = AbortSignal.abort(new Error('given up'));
    await expect(served.provider.list('file:///', { limit: 50 }, createContext({ signal }))).rejects.toThrow(
      'given up',
    );
  });
});

describe('completion of a path [RES-3]', () => {
  it('gives the listed names, with a slash after folders', async () => {
    await using folder = await temporaryFolder({ 'guide/a b%.md': '', 'guide/#1?.md': '', 'guide.txt': '', other: '' });
    await symlink('guide', folder.at('guide-link'));
    await symlink('/etc', folder.at('guide-out'));
    await using served = await serve({ path: folder.path });
    expect(await served.complete('gui')).toEqual(['guide/', 'guide-link/', 'guide.txt']);
    expect(await served.complete('guide/')).toEqual(['guide/%231%3F.md', 'guide/a b%25.md']);
    expect(await served.complete('guide/a')).toEqual(['guide/a b%25.md']);
    expect(await served.complete('guide-link/%23')).toEqual(['guide-link/%231%3F.md']);
  });

  it.each([
    '../',
    '..',
    '%2e%2e/',
    '%252e%252e/',
    '/',
    '//',
    'x/../../',
    'guide-out/',
    'guide-out/pass',
    '\u0000',
    '.',
  ])('gives nothing for %s', async (value) => {
    await using folder = await temporaryFolder({ 'root/a': '', secret: '' });
    await symlink('/etc', folder.at('root/guide-out'));
    await using served = await serve({ path: folder.at('root') });
    expect(await served.complete(value)).toEqual([]);
  });

  it('gives nothing for a path that is too deep', async () => {
    await using folder = await temporaryFolder({ a: '' });
    await using served = await serve({ path: folder.path });
    expect(await served.complete('a/'.repeat(30_000))).toEqual([]);
  });

  it('gives no more values than requested, and says that there are more', async () => {
    await using folder = await temporaryFolder(
      Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f${index}`, ''])),
    );
    await using served = await serve({ path: folder.path });
    const ask = { uriTemplate: 'file:///{+path}', variable: 'path', value: 'f', known: {}, limit: 100 };
    const answer = await served.provider.complete?.(ask, createContext());
    expect([answer?.values.length, answer?.hasMore]).toEqual([100, true]);
  });
});
