import { mkdir, mkdtemp, readdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFile } from './lock.ts';

let base: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-audit-lock-')));
  await mkdir(join(base, 'links'));
  await mkdir(join(base, 'logs/deep'), { recursive: true });
});
afterEach(() => rm(base, { recursive: true }));

const at = (...names: readonly string[]): string => join(base, ...names);
const LINK = ['links', 'audit.jsonl'] as const;
const FILE = ['logs', 'audit.jsonl'] as const;

/** Each makes a chain of links from `links/audit.jsonl` to `logs/audit.jsonl`. */
const CHAINS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['an absolute link', () => symlink(at(...FILE), at(...LINK))],
  ['a relative link', () => symlink('../logs/audit.jsonl', at(...LINK))],
  [
    'a link to a link',
    () => Promise.all([symlink('second', at(...LINK)), symlink('../logs/audit.jsonl', at('links', 'second'))]),
  ],
  [
    'a link through a linked folder',
    () => Promise.all([symlink('folder/audit.jsonl', at(...LINK)), symlink('../logs', at('links', 'folder'))]),
  ],
  [
    'a link that goes up from a linked folder',
    () => Promise.all([symlink('deep/../audit.jsonl', at(...LINK)), symlink('../logs/deep', at('links', 'deep'))]),
  ],
];

describe.each(CHAINS)('%s', (_name, make) => {
  beforeEach(make);

  it.each([
    ['that does not exist yet', false],
    ['that exists', true],
  ])('to a file %s has the lock of the file', async (_state, exists) => {
    if (exists) await writeFile(at(...FILE), '');
    const first = lockFile(at(...LINK));
    // The server creates the file after it has the lock.
    await writeFile(at(...FILE), '');
    expect(() => lockFile(at(...LINK))).toThrow('is being written by process');
    expect(() => lockFile(at(...FILE))).toThrow('is being written by process');
    await first.keep();
    await first.release();
    expect(await readdir(at('logs'))).toEqual(['audit.jsonl', 'deep']);
    const second = lockFile(at(...FILE));
    expect(() => lockFile(at(...LINK))).toThrow('is being written by process');
    await second.release();
  });

  it('has a lock of its own, too, because rotation puts a file in its place', async () => {
    await writeFile(at(...FILE), '');
    const first = lockFile(at(...LINK));
    await rename(at(...LINK), at('links', 'audit.jsonl.1'));
    await writeFile(at(...LINK), '');
    expect(() => lockFile(at(...LINK))).toThrow('is being written by process');
    expect(() => lockFile(at(...FILE))).toThrow('is being written by process');
    await first.release();
    expect((await readdir(at('links'))).filter((name) => name.includes('lock'))).toEqual([]);
    expect((await readdir(at('logs'))).filter((name) => name.includes('lock'))).toEqual([]);
  });
});

it('a link that leads to itself or into a missing folder leaves no lock when it is refused', async () => {
  await symlink('audit.jsonl', at(...LINK));
  await symlink('../nowhere/audit.jsonl', at('links', 'lost'));
  for (const name of ['audit.jsonl', 'lost']) {
    try {
      await lockFile(at('links', name)).release();
    } catch (error) {
      expect(error).toMatchObject({ syscall: 'open' });
    }
  }
  expect(await readdir(at('links'))).toEqual(['audit.jsonl', 'lost']);
});
