/** Remembered listings: a first page never shows an old one, and memory is bounded. */
import { mkdir, open, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../../test/e2e/folders.ts';
import { until } from '../../../test/e2e/waiting.ts';
import { startHands } from '../../../test/security/hands.ts';
import { refused, serve } from '../../../test/security/served.ts';
import { createContext } from '../../core/context.ts';
import { DIRECT, POOLED } from './disk.ts';
import { openBeneath } from './open.ts';
import { createSnapshots, type Snapshots } from './snapshots.ts';
import type { SortedNames } from './sorted-names.ts';
import type { NameFilter } from './visibility.ts';

const everything: NameFilter = () => true;

/** Sets `mtime` far back, so that only `ctime`, which no program can set, shows changes. */
const setBack = (path: string): Promise<void> => utimes(path, 1_000_000, 1_000_000);

/** Resolves when the last change of a directory is so long ago that an equal time stamp means an unchanged directory. */
async function settle(folder: Folder, name: string): Promise<void> {
  const snapshots = createSnapshots(DIRECT);
  await until(async () => {
    const first = await take(snapshots, folder, [name]);
    return (await take(snapshots, folder, [name])) === first;
  }, `${name} to be at rest`);
}

interface Taking {
  readonly filter?: NameFilter;
  readonly continuing?: boolean;
}

async function take(
  snapshots: Snapshots,
  folder: Folder,
  names: readonly string[],
  { filter = everything, continuing = false }: Taking = {},
): Promise<SortedNames> {
  const opened = await openBeneath(folder.path, names, 'content', '');
  try {
    return await snapshots.take(opened, filter, continuing, 'file:///', createContext().signal);
  } finally {
    await opened.handle.close();
  }
}

const namesOf = (names: SortedNames): string[] =>
  Array.from({ length: names.length }, (_, index) => names.at(index).name);

describe('a first page', () => {
  it('shows every change that was made before it', async () => {
    await using folder = await temporaryFolder();
    await using served = await serve({ path: folder.path });
    const expected: string[] = [];
    for (let round = 0; round < 200; round++) {
      const name = `file-${String(round).padStart(3, '0')}`;
      await writeFile(folder.at(name), '');
      expected.push(name);
      if (round % 3 === 2) await rm(folder.at(expected.shift() ?? ''));
      expect(await served.names('file:///'), `round ${round}`).toEqual(expected);
    }
  });

  it('shows changes in a directory whose time is set back after them', async () => {
    await using folder = await temporaryFolder({ 'sub/a': '' });
    await setBack(folder.at('sub'));
    await settle(folder, 'sub');
    await using served = await serve({ path: folder.path });
    expect(await served.names('file:///sub')).toEqual(['a']);
    await writeFile(folder.at('sub/b'), '');
    await setBack(folder.at('sub'));
    expect(await served.names('file:///sub')).toEqual(['a', 'b']);
  });

  it('shows another directory that replaced the first one', async () => {
    await using folder = await temporaryFolder({ 'sub/a': '', 'other/b': '' });
    await settle(folder, 'sub');
    await settle(folder, 'other');
    await using served = await serve({ path: folder.path });
    expect(await served.names('file:///sub')).toEqual(['a']);
    await rename(folder.at('sub'), folder.at('gone'));
    await rename(folder.at('other'), folder.at('sub'));
    expect(await served.names('file:///sub')).toEqual(['b']);
  });

  it('is not read again from a directory that has not changed', async () => {
    await using folder = await temporaryFolder({ 'sub/a': '' });
    await settle(folder, 'sub');
    const snapshots = createSnapshots(DIRECT);
    const first = await take(snapshots, folder, ['sub']);
    expect(await take(snapshots, folder, ['sub'])).toBe(first);
    expect(await take(snapshots, folder, ['sub'], { continuing: true })).toBe(first);
    snapshots.clear();
    expect(await take(snapshots, folder, ['sub'])).not.toBe(first);
  });

  it('is read again when the rules may show other names', async () => {
    await using folder = await temporaryFolder({ 'sub/a': '', 'sub/b': '' });
    await settle(folder, 'sub');
    const snapshots = createSnapshots(DIRECT);
    const only = (name: string): NameFilter => Object.assign((each: string) => each === name, { version: name });
    expect(namesOf(await take(snapshots, folder, ['sub'], { filter: only('a') }))).toEqual(['a']);
    expect(namesOf(await take(snapshots, folder, ['sub'], { filter: only('b') }))).toEqual(['b']);
  });
});

describe('later pages', () => {
  it('go on with the listing of the first page, and a new first page does not', async () => {
    await using folder = await temporaryFolder({ 'sub/a': '', 'sub/b': '' });
    const snapshots = createSnapshots(DIRECT);
    const first = await take(snapshots, folder, ['sub']);
    await writeFile(folder.at('sub/c'), '');
    expect(await take(snapshots, folder, ['sub'], { continuing: true })).toBe(first);
    expect(namesOf(await take(snapshots, folder, ['sub']))).toEqual(['a', 'b', 'c']);
  });

  it('leave out names that are no longer shown', async () => {
    await using folder = await temporaryFolder({ 'a.txt': '', 'b.log': '', 'c.txt': '', '.gitignore': '' });
    await using served = await serve({ path: folder.path, gitignore: true });
    const ctx = createContext();
    const first = await served.provider.list('file:///', { limit: 1 }, ctx);
    await folder.write('.gitignore', '*.log\n');
    const second = await served.provider.list('file:///', { limit: 10, cursor: first.nextCursor }, ctx);
    expect(second.resources.map(({ name }) => name)).toEqual(['c.txt']);
  });

  it('leave out deleted files, and are filled with later ones', async () => {
    await using folder = await temporaryFolder(
      Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${String(index).padStart(2, '0')}`, ''])),
    );
    await using served = await serve({ path: folder.path });
    const ctx = createContext();
    const first = await served.provider.list('file:///', { limit: 10 }, ctx);
    for (let index = 8; index < 15; index++) await rm(folder.at(`f${String(index).padStart(2, '0')}`));
    const second = await served.provider.list('file:///', { limit: 10, cursor: first.nextCursor }, ctx);
    expect(second.resources.map(({ name }) => name)).toEqual(
      Array.from({ length: 10 }, (_, index) => `f${15 + index}`),
    );
  });
});

describe('requests at the same time', () => {
  it('share readings of a directory that does not change', async () => {
    await using folder = await temporaryFolder({ 'sub/a': '' });
    await settle(folder, 'sub');
    const snapshots = createSnapshots(DIRECT);
    const taken = await Promise.all(Array.from({ length: 20 }, () => take(snapshots, folder, ['sub'])));
    expect(new Set(taken).size).toBeLessThan(20);
    expect(new Set(taken.map((names) => namesOf(names).join()))).toEqual(new Set(['a']));
  });

  it('all get an answer when the one that began the reading is aborted', async () => {
    await using folder = await temporaryFolder(
      Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`sub/${index}`, ''])),
    );
    await settle(folder, 'sub');
    await using served = await serve({ path: folder.path });
    const gone = new AbortController();
    const first = served.provider.list('file:///sub', { limit: 10 }, createContext({ signal: gone.signal }));
    const others = Array.from({ length: 5 }, () => served.provider.list('file:///sub', { limit: 10 }, createContext()));
    gone.abort(new Error('given up'));
    await expect(first).rejects.toThrow('given up');
    for (const page of await Promise.all(others)) expect(page.resources).toHaveLength(10);
  });
});

describe('memory', () => {
  it('of listings is bounded: the oldest are forgotten', async () => {
    await using folder = await temporaryFolder();
    const width = 200;
    const names = Array.from({ length: 900 }, (_, index) => `${String(index).padStart(4, '0')}-${'x'.repeat(width)}`);
    await mkdir(folder.at('first'));
    await Promise.all(names.map((name) => writeFile(folder.at('first', name), '')));
    await settle(folder, 'first');
    const snapshots = createSnapshots(DIRECT);
    const first = await take(snapshots, folder, ['first']);
    // 400 listings of 180 kB are more than the limit. All have the names of one directory, under different keys.
    const opened = await openBeneath(folder.path, ['first'], 'content', '');
    for (let index = 0; index < 400; index++) {
      const elsewhere = { ...opened, segments: [`other-${index}`] };
      await snapshots.take(elsewhere, everything, false, 'file:///', createContext().signal);
    }
    await opened.handle.close();
    expect(await take(snapshots, folder, ['first'])).not.toBe(first);
  });
});

describe('a directory of 50,000 entries', () => {
  it('is paged through without loss or repetition while another program makes and removes files', async () => {
    await using folder = await temporaryFolder({ 'big/': '' });
    await using hands = await startHands();
    const path = folder.at('big');
    await hands.do(['createMany', path, 'stay-', 50_000]);
    await using served = await serve({ path: folder.path });
    const churn = await hands.repeat(
      ['createMany', path, 'come-', 20],
      ['createMany', path, 'stay-9-', 20],
      ['removeMany', path, 'come-', 20],
      ['removeMany', path, 'stay-9-', 20],
    );
    const seen = (await served.list('file:///big', 1_000)).map(({ name }) => name);
    expect(await churn.stop()).toBeGreaterThan(0);
    expect(new Set(seen).size).toBe(seen.length);
    const stay = Array.from({ length: 50_000 }, (_, index) => `stay-${index}`).sort();
    expect(seen.filter((name) => /^stay-\d+$/.test(name))).toEqual(stay);
  });
});

describe('names that are not UTF-8', () => {
  it.runIf(process.platform === 'linux')('are left out, and nothing else is', async () => {
    await using folder = await temporaryFolder({ 'good.txt': 'good', 'é.txt': 'nfc', 'e\u0301.txt': 'nfd' });
    const broken = [Buffer.from([0x66, 0xff, 0x2e]), Buffer.from([0xc0, 0xae]), Buffer.from([0xed, 0xa0, 0x80])];
    for (const name of broken) {
      const path = Buffer.concat([Buffer.from(`${folder.path}/`), name]);
      await (await open(path as unknown as string, 'w')).close();
      await mkdir(Buffer.concat([path, Buffer.from('d')]));
      await symlink('good.txt', Buffer.concat([path, Buffer.from('l')]));
    }
    await using served = await serve({ path: folder.path });
    expect(await served.names('file:///')).toEqual(['e\u0301.txt', 'good.txt', 'é.txt']);
    expect(await served.complete('')).toEqual(['e\u0301.txt', 'good.txt', 'é.txt']);
    expect(await served.text('file:///%C3%A9.txt')).toBe('nfc');
    expect(await served.text('file:///e%CC%81.txt')).toBe('nfd');
    expect(await refused(served.text('file:///f%FF.'))).toBe('invalid');
    expect(await refused(served.text('file:///f%EF%BF%BD.'))).toBe('invalid');
    await using watching = await served.watch();
    await watching.told(() => folder.write('new.txt', ''));
  });

  it.runIf(process.platform === 'linux')(
    'are left out, and so are those with control characters, backslashes or line feeds',
    async () => {
      await using folder = await temporaryFolder({ 'good.txt': 'good' });
      for (const name of ['a\nb', 'a\\b', 'a\tb', 'a\u007fb', 'a\u0085b', '\u0001'])
        await writeFile(folder.at(name), 'x');
      await using served = await serve({ path: folder.path });
      expect(await served.names('file:///')).toEqual(['good.txt']);
      expect(await refused(served.text('file:///a%0Ab'))).toBe('invalid');
      expect(await refused(served.text('file:///a%5Cb'))).toBe('invalid');
    },
  );
});

describe('the entries of a directory', () => {
  it.each([
    ['directly', DIRECT],
    ['through the pool', POOLED],
  ])('are all there, in batches, when they are read %s', async (_, disk) => {
    const files = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`file-${index}`, '']));
    await using folder = await temporaryFolder({ ...files, 'inner/x': '' });
    const names: string[] = [];
    const sizes: number[] = [];
    for await (const some of disk.entries(folder.path)) {
      sizes.push(some.length);
      names.push(...some.map(({ name }) => name));
    }
    expect(names.toSorted()).toEqual([...Object.keys(files), 'inner'].toSorted());
    expect(Math.max(...sizes)).toBeLessThan(1_000);
    for await (const _some of disk.entries(folder.at('inner'))) break;
    await expect(disk.entries(folder.at('none'))[Symbol.asyncIterator]().next()).rejects.toThrow('ENOENT');
  });
});
