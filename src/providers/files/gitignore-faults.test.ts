/** Tests that a `.gitignore` that cannot be read never counts as one without rules. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { refused, serveFiles } from '../../../test/security/served.ts';
import { POOLED } from './disk.ts';
import { GITIGNORE } from './gitignore.ts';

const FILES = { '.gitignore': 'secret\n', secret: 'SECRET', 'd/secret': 'SECRET', 'd/open.txt': 'open' };

const { open, read } = POOLED;

/** Lets opening a `.gitignore` fail with a code of the system: at its path, or when its content is opened. */
function fail(code: string, content = false): void {
  vi.spyOn(POOLED, 'open').mockImplementation((path, flags) => {
    const fails = content ? path.startsWith('/proc/') : path.endsWith(GITIGNORE);
    return fails ? Promise.reject(Object.assign(new Error(code), { code })) : open(path, flags);
  });
}

afterEach(() => void vi.restoreAllMocks());

// On Linux, only a `.gitignore` is opened through the pool here; on other systems, all files are.
describe.runIf(process.platform === 'linux')('a .gitignore that cannot be read', () => {
  it.each([
    ['EMFILE', false],
    ['EMFILE', true],
    ['ENFILE', false],
    ['ENOMEM', true],
    ['EIO', true],
    ['ENOTCONN', false],
  ] as const)('%s: nothing is answered until it can be read again', async (code, content) => {
    await using place = await serveFiles(FILES, { gitignore: true, watch: false });
    const { served } = place;
    fail(code, content);
    for (const uri of ['file:///secret', 'file:///d/secret', 'file:///d/open.txt'])
      expect(await refused(served.text(uri)), uri).toBe('unavailable');
    for (const uri of ['file:///', 'file:///d']) expect(await refused(served.list(uri)), uri).toBe('unavailable');
    vi.restoreAllMocks();
    expect(await refused(served.text('file:///secret'))).toBe('not-found');
    expect(await served.text('file:///d/open.txt')).toBe('open');
    expect(await served.names('file:///d')).toEqual(['open.txt']);
  });

  it.each(['EACCES', 'EPERM'])('%s: everything is left out, as if it were too large', async (code) => {
    await using place = await serveFiles(FILES, { gitignore: true, watch: false });
    const { served } = place;
    fail(code, true);
    for (const uri of ['file:///secret', 'file:///d/secret', 'file:///d/open.txt'])
      expect(await refused(served.text(uri)), uri).toBe('not-found');
    expect(await served.names('file:///')).toEqual([]);
    vi.restoreAllMocks();
    expect(await served.names('file:///')).toEqual(['d']);
  });

  it.each([1, 7, 4_096])('is read to its end, even if the system gives %i bytes at a time', async (most) => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `ä-${index}`);
    await using place = await serveFiles(
      { ...FILES, '.gitignore': `${lines.join('\n')}\nsecret`, 'd/.gitignore': '\ufeffopen.txt\n*\n!open.txt' },
      { gitignore: true, watch: false },
    );
    const { served } = place;
    vi.spyOn(POOLED, 'read').mockImplementation((descriptor, buffer, offset, length, position) =>
      read(descriptor, buffer, offset, Math.min(length, most), position),
    );
    for (const uri of ['file:///secret', 'file:///d/secret'])
      expect(await refused(served.text(uri)), uri).toBe('not-found');
    expect(await served.names('file:///')).toEqual(['d']);
    expect(await served.names('file:///d')).toEqual(['open.txt']);
  });

  it('that grows shorter meanwhile counts as far as it goes', async () => {
    await using place = await serveFiles(FILES, { gitignore: true, watch: false });
    const { served } = place;
    let reads = 0;
    vi.spyOn(POOLED, 'read').mockImplementation((descriptor, buffer, offset, length, position) =>
      ++reads > 1 ? 0 : read(descriptor, buffer, offset, Math.min(length, 3), position),
    );
    expect(await served.text('file:///d/secret')).toBe('SECRET');
    expect(reads).toBe(2);
  });

  it('does not exist in a folder that does not exist', async () => {
    await using place = await serveFiles({ 'd/open.txt': 'open' }, { gitignore: true, watch: false });
    const { served } = place;
    expect(await served.text('file:///d/open.txt')).toBe('open');
    for (const uri of ['file:///no/x', 'file:///d/open.txt/x/y', `file:///${'n'.repeat(300)}/x`])
      expect(await refused(served.text(uri)), uri).toBe('not-found');
  });
});
