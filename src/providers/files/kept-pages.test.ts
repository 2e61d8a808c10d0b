/** Pages that are requested again and again: they show each change between two requests. */
import { chmod, mkdir, rename, symlink, truncate, unlink, utimes, writeFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../test/e2e/folders.ts';
import { until } from '../../../test/e2e/waiting.ts';
import { createContext } from '../../core/context.ts';
import type { ResourcePage } from '../../core/provider.ts';
import { createDirectoryWatches } from './directory-watches.ts';
import { DIRECT } from './disk.ts';
import type { Folder } from './folder.ts';
import { createKeptPages, LOOK_AGAIN_MS } from './kept-pages.ts';
import { listDirectory } from './list.ts';
import { createListedWatches, MAX_LISTED_WATCHES } from './listed-watches.ts';
import { createSnapshots } from './snapshots.ts';
import { createVisibility } from './visibility.ts';

const RULES = { hidden: false, vcs: false, credentials: false, gitignore: true, exclude: [] };

/** A folder with a clock that a test sets forward. Each look at the clock moves it a little, too. */
async function keeping(files: Readonly<Record<string, string>>, { watched = false } = {}) {
  const made = await temporaryFolder(files);
  let passed = 0;
  const kept = createKeptPages(() => {
    passed += 0.001;
    return passed;
  });
  const directories = createDirectoryWatches(
    made.path,
    () => createContext().log,
    (segments) => kept.changed(segments.join('/')),
  );
  const failures: unknown[] = [];
  const listed = createListedWatches(directories, (error) => failures.push(error));
  const folder: Folder = {
    root: made.path,
    name: 'kept',
    disk: DIRECT,
    device: 0n,
    symlinks: true,
    watchable: true,
    visibility: createVisibility(made.path, RULES),
    snapshots: createSnapshots(DIRECT),
    kept,
    listed: watched ? listed.listed : () => {},
  };
  const page = (uri = 'file:///', limit = 100, cursor?: string): Promise<ResourcePage> =>
    listDirectory(folder, uri, { limit, cursor }, createContext());
  return {
    ...made,
    page,
    listed,
    failures,
    /** Waits until the page is kept. Pages with files that were just created are not kept. */
    settled: (uri?: string): Promise<ResourcePage> =>
      until(async () => {
        const [first, second] = [await page(uri), await page(uri)];
        return first === second ? second : undefined;
      }, 'a page that is kept'),
    setOn: (ms: number): void => {
      passed += ms;
    },
    async [Symbol.asyncDispose]() {
      await listed.close();
      await directories.close();
      await made[Symbol.asyncDispose]();
    },
  };
}

const said = ({ resources }: ResourcePage) =>
  resources.map(({ name, size, annotations }) => `${name} ${size} ${annotations?.lastModified}`);
const names = ({ resources }: ResourcePage) => resources.map(({ name }) => name);
const TIME = new Date('2020-01-02T03:04:05.678Z');

describe('a page that is requested again and again', () => {
  it('is the same object, and after a second a new one with the same entries', async () => {
    await using folder = await keeping({ a: 'a', b: 'b', 'c/d': '' });
    const before = await folder.settled();
    expect(Object.isFrozen(before.resources[0]?.capabilities)).toBe(true);
    folder.setOn(LOOK_AGAIN_MS);
    const after = await folder.page();
    expect(after).not.toBe(before);
    expect(after.resources).toEqual(before.resources);
    for (const [index, resource] of after.resources.entries()) expect(resource).toBe(before.resources[index]);
  });

  it('is not kept when it is requested once', async () => {
    await using folder = await keeping({ a: 'a' });
    await folder.settled();
    const first = await folder.page('file:///', 7);
    expect(await folder.page('file:///', 7)).not.toBe(first);
  });

  it.each<[string, (at: (name: string) => string) => Promise<void>, readonly string[]]>([
    ['comes', (at) => writeFile(at('aa'), 'x'), ['c', 'a', 'aa', 'b']],
    ['goes', (at) => unlink(at('a')), ['c', 'b']],
    ['is renamed', (at) => rename(at('a'), at('z')), ['c', 'b', 'z']],
    ['becomes a directory', (at) => unlink(at('a')).then(() => mkdir(at('a'))), ['a', 'c', 'b']],
    ['becomes a link to the outside', (at) => unlink(at('a')).then(() => symlink('/etc/passwd', at('a'))), ['c', 'b']],
    ['is left out by a .gitignore', (at) => writeFile(at('.gitignore'), 'a\n'), ['c', 'b']],
  ])('shows an entry that %s at once, without any watch', async (_, change, expected) => {
    await using folder = await keeping({ a: 'a', b: 'b', 'c/d': '' });
    const before = await folder.settled();
    expect(names(before)).toEqual(['c', 'a', 'b']);
    await change((name) => folder.at(name));
    expect(names(await folder.page())).toEqual(expected);
  });

  it('shows what a changed .gitignore shows', async () => {
    await using folder = await keeping({ '.gitignore': 'a\n', a: 'a', b: 'b' });
    expect(names(await folder.settled())).toEqual(['b']);
    await folder.write('.gitignore', 'bb\n');
    expect(names(await folder.page())).toEqual(['a', 'b']);
  });

  it('shows at once that an entry was replaced', async () => {
    await using folder = await keeping({ a: 'a', b: 'b' });
    await folder.settled();
    await folder.write('b.new', 'longer');
    await rename(folder.at('b.new'), folder.at('b'));
    expect((await folder.page()).resources.map(({ size }) => size)).toEqual([1, 6]);
  });

  const CHANGES: readonly (readonly [string, (path: string) => Promise<void>])[] = [
    ['resized', (path) => truncate(path, 0)],
    ['written over', (path) => writeFile(path, 'other')],
    ['touched', (path) => utimes(path, TIME, TIME)],
  ];

  it.each(CHANGES)('shows an entry that was %s after a second, without a watch', async (_, change) => {
    await using folder = await keeping({ a: 'first', b: 'b' });
    const before = await folder.settled();
    await change(folder.at('a'));
    expect(said(await folder.page())).toEqual(said(before));
    folder.setOn(LOOK_AGAIN_MS);
    const after = await folder.page();
    expect(said(after)[0]).not.toBe(said(before)[0]);
    expect(after.resources[1]).toBe(before.resources[1]);
    expect(folder.listed.size).toBe(0);
  });

  it.each(CHANGES)('shows an entry that was %s as soon as the watch reports it', async (_, change) => {
    await using folder = await keeping({ a: 'first', 'c/d': 'first' }, { watched: true });
    for (const [uri, path] of [
      ['file:///', 'a'],
      ['file:///c', 'c/d'],
    ] as const) {
      const before = await folder.settled(uri);
      await change(folder.at(path));
      await until(
        async () => (said(await folder.page(uri)).at(-1) === said(before).at(-1) ? undefined : true),
        'the change',
      );
    }
    expect(folder.listed.size).toBe(2);
  });

  it('is refused when the directory is missing, and lists a new directory that takes its name', async () => {
    await using folder = await keeping({ 'c/a': '', 'd/b': '' });
    await folder.settled('file:///c');
    await rename(folder.at('c'), folder.at('e'));
    await expect(folder.page('file:///c')).rejects.toMatchObject({ code: 'not-found' });
    await rename(folder.at('d'), folder.at('c'));
    expect(names(await folder.page('file:///c'))).toEqual(['b']);
  });

  it('is read again when the permissions of the directory have changed', async () => {
    await using folder = await keeping({ 'c/a': '' });
    const before = await folder.settled('file:///c');
    await chmod(folder.at('c'), 0o700);
    expect(await folder.page('file:///c')).not.toBe(before);
  });

  it('shows entries that change again and keep the same time', async () => {
    await using folder = await keeping({ a: 'first' });
    await folder.settled();
    // An entry with a time in the future is looked at in each list, because another change could have the same time.
    const soon = new Date(Date.now() + 3_600_000);
    await utimes(folder.at('a'), soon, soon);
    folder.setOn(LOOK_AGAIN_MS);
    expect((await folder.page()).resources[0]?.size).toBe(5);
    for (const size of [1, 2, 3]) {
      await truncate(folder.at('a'), size);
      await utimes(folder.at('a'), soon, soon);
      expect((await folder.page()).resources[0]?.size).toBe(size);
    }
  });

  it('looks at links, and at folders behind links, each time', async () => {
    await using folder = await keeping({ 'c/d': 'first', 'x/y': '' });
    await symlink('../c/d', folder.at('x/link'));
    await symlink('c', folder.at('way'));
    for (const [uri, index] of [
      ['file:///x', 0],
      ['file:///way', 0],
    ] as const) {
      await folder.write('c/d', 'first');
      for (let count = 0; count < 3; count++) await folder.page(uri);
      await folder.write('c/d', 'x');
      expect((await folder.page(uri)).resources[index]?.size).toBe(1);
    }
  });

  it('is another page for each cursor', async () => {
    await using folder = await keeping({ a: '', b: '', c: '', d: '' });
    for (let count = 0; count < 3; count++) {
      const first = await folder.page('file:///', 2);
      const second = await folder.page('file:///', 2, first.nextCursor);
      expect([names(first), names(second)]).toEqual([
        ['a', 'b'],
        ['c', 'd'],
      ]);
    }
  });
});

describe('directories that are listed often', () => {
  it('are watched up to a limit, and no longer after closing', async () => {
    const files = Object.fromEntries(Array.from({ length: MAX_LISTED_WATCHES + 3 }, (_, index) => [`d${index}/a`, '']));
    await using folder = await keeping(files, { watched: true });
    for (let count = 0; count < 2; count++)
      for (let index = 0; index < MAX_LISTED_WATCHES + 3; index++) await folder.page(`file:///d${index}`);
    expect(folder.listed.size).toBe(MAX_LISTED_WATCHES);
    await folder.listed.close();
    expect(folder.listed.size).toBe(0);
    await folder.page('file:///d0');
    expect(folder.listed.size).toBe(0);
    expect(folder.failures).toEqual([]);
  });

  it('do not fail if no watch is available, which is reported once', async () => {
    const failures: unknown[] = [];
    const refuses = {
      watch: async () => {
        throw new Error('no more watches');
      },
      size: 0,
      close: async () => {},
    };
    const listed = createListedWatches(refuses, (error) => failures.push(error));
    listed.listed(['a']);
    listed.listed(['a']);
    await listed.close();
    expect(failures).toHaveLength(1);
  });

  it('are watched after a while if the first watch failed, however often they were listed meanwhile', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let [tries, failures] = [0, 0];
    const late = {
      watch: async () => {
        if (++tries === 1) throw new Error('no more watches');
        return { [Symbol.asyncDispose]: async () => {} };
      },
      size: 0,
      close: async () => {},
    };
    const listed = createListedWatches(late, () => void failures++);
    for (let second = 0; second < 20; second++) {
      listed.listed(['a']);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect([tries, failures, listed.size]).toEqual([2, 1, 1]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(listed.size).toBe(0);
    await listed.close();
  });

  it('are no longer watched when closing is done, even if a watch was just ending', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const ended: string[] = [];
    let release = (): void => {};
    const slow = {
      watch: async (segments: readonly string[]) => ({
        [Symbol.asyncDispose]: async () => {
          if (segments[0] === 'idle') await new Promise<void>((resolve) => (release = resolve));
          ended.push(segments.join('/'));
        },
      }),
      size: 0,
      close: async () => {},
    };
    const listed = createListedWatches(slow, () => {});
    listed.listed(['idle']);
    await vi.advanceTimersByTimeAsync(8_000);
    listed.listed(['busy']);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(listed.size).toBe(1);
    const closed = listed.close().then(() => ended.push('closed'));
    await vi.advanceTimersByTimeAsync(1_000);
    release();
    await closed;
    expect(ended).toEqual(['busy', 'idle', 'closed']);
  });
});
