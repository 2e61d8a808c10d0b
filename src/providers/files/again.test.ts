/** When a file that was read, or a directory that was listed, counts as unchanged, and when it does not. */
import { appendFile, chmod, link, mkdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../../test/e2e/folders.ts';
import { until } from '../../../test/e2e/waiting.ts';
import { isRepeatable } from '../../core/again.ts';
import type { ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import type { ReadOptions, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import type { FilesOptions } from './config.ts';
import { filesProvider } from './index.ts';

const WHOLE: ReadOptions = { maxBytes: 1_000_000, maxChildren: 100 };
const URI = 'file:///way/a.txt';
const ctx = createContext();
const PAST = new Date('2020-02-02T02:02:02Z');

type Bodies = readonly ResourceBody[];

/** A read of a file that was not changed for a while. */
const settled = (provider: ResourceProvider, uri = URI): Promise<Bodies> =>
  until(async () => {
    const bodies = await provider.read(uri, WHOLE, ctx);
    return isRepeatable(bodies) && bodies;
  }, 'a read that can be given again');

const again = (provider: ResourceProvider, bodies: Bodies, uri = URI): boolean =>
  provider.again?.(bodies, uri, WHOLE, ctx) === true;

async function served(options: Partial<FilesOptions> = {}) {
  const folder = await temporaryFolder({
    'root/way/a.txt': 'first',
    'root/other/a.txt': 'other',
    'beside/a.txt': 'first',
  });
  // Tests can set this time again exactly.
  await utimes(folder.at('root/way/a.txt'), PAST, PAST);
  const provider = await filesProvider({ path: folder.at('root'), ...options });
  return { folder, provider, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** Changes that a file can undergo between two reads, most of them without another size. */
const CHANGES: readonly (readonly [what: string, change: (folder: Folder, file: string) => Promise<unknown>])[] = [
  ['written over', (_, file) => writeFile(file, 'again')],
  ['longer', (_, file) => appendFile(file, '!')],
  [
    'cut and written over, with the times that it had',
    async (_, file) => {
      const { atime, mtime } = await stat(file);
      await writeFile(file, 'again');
      await utimes(file, atime, mtime);
    },
  ],
  [
    'replaced by one with the same size and time',
    async (folder, file) => {
      const { atime, mtime } = await stat(file);
      await folder.write('root/new', 'again');
      await utimes(folder.at('root/new'), atime, mtime);
      await rename(folder.at('root/new'), file);
    },
  ],
  ['gone', (_, file) => rm(file)],
  ['no longer readable', (_, file) => chmod(file, 0)],
  [
    'a link to the same text elsewhere',
    async (folder, file) => {
      await rm(file);
      await symlink(folder.at('root/other/a.txt'), file);
    },
  ],
  [
    'a folder',
    async (_, file) => {
      await rm(file);
      await mkdir(file);
    },
  ],
  [
    'another file, because another folder took the name of its folder',
    async (folder) => {
      await rename(folder.at('root/way'), folder.at('root/was'));
      await rename(folder.at('root/other'), folder.at('root/way'));
    },
  ],
  [
    'the same file behind a link in place of its folder',
    async (folder) => {
      await rename(folder.at('root/way'), folder.at('moved'));
      await symlink(folder.at('moved'), folder.at('root/way'));
    },
  ],
  [
    'the same file, and the folder that is served has moved',
    async (folder) => {
      await rename(folder.at('root'), folder.at('moved'));
      await symlink(folder.at('moved'), folder.at('root'));
    },
  ],
  ['linked under a second name', (folder, file) => link(file, folder.at('root/second'))],
];

describe.runIf(process.platform === 'linux')('a file that was read', () => {
  it('is unchanged at each look', async () => {
    await using place = await served();
    const bodies = await settled(place.provider);
    for (let count = 0; count < 3; count++) expect(again(place.provider, bodies)).toBe(true);
    expect(await place.provider.read(URI, WHOLE, ctx)).toEqual(bodies);
  });

  it.each(CHANGES)('has changed when it is %s [SEC-RES-1]', async (_, change) => {
    await using place = await served();
    const bodies = await settled(place.provider);
    await change(place.folder, place.folder.at('root/way/a.txt'));
    expect(again(place.provider, bodies)).toBe(false);
  });

  it('does not count as unchanged under another spelling of its URI, nor in a window', async () => {
    await using place = await served();
    const bodies = await settled(place.provider);
    expect(again(place.provider, bodies, 'file:///way/%61.txt')).toBe(false);
    expect(place.provider.again?.(bodies, URI, { ...WHOLE, range: { offset: 0 } }, ctx)).toBe(false);
  });

  it('cannot be checked if its time of change lies in the future', async () => {
    await using place = await served();
    const file = place.folder.at('root/way/a.txt');
    const future = new Date(Date.now() + 3_600_000);
    await utimes(file, future, future);
    // Waits until a neighbour whose time is the present is settled.
    await settled(place.provider, 'file:///other/a.txt');
    expect(isRepeatable(await place.provider.read(URI, WHOLE, ctx))).toBe(false);
  });

  it.each<[string, string, Partial<FilesOptions>]>([
    ['a folder', 'file:///way', {}],
    ['empty, as files of the kernel claim to be', 'file:///empty', {}],
    ['larger than a file that is read at once', 'file:///large', {}],
    ['behind a link', 'file:///link', {}],
    ['under rules of files that can change', URI, { gitignore: true }],
  ])('cannot be checked when it is %s', async (_, uri, options) => {
    await using place = await served(options);
    const { folder, provider } = place;
    await folder.write('root/empty', '');
    await folder.write('root/large', 'x'.repeat(100_000));
    await symlink('way/a.txt', folder.at('root/link'));
    const plain = await filesProvider({ path: folder.at('root') });
    await folder.write('root/last', 'last');
    // When the last file is settled, all others are.
    await settled(plain, 'file:///last');
    const bodies = await provider.read(uri, WHOLE, ctx);
    expect(isRepeatable(bodies)).toBe(false);
    expect(again(provider, bodies, uri)).toBe(false);
    for (const body of bodies) await body.close?.();
  });
});

const WAY = 'file:///way';
const PAGE = { limit: 10 };

const listAgain = (provider: ResourceProvider, page: ResourcePage, uri: string | undefined): boolean =>
  provider.listAgain?.(page, uri, PAGE, ctx) === true;

/** A list of a directory that was not changed for a while. */
const settledPage = (provider: ResourceProvider, uri: string | undefined): Promise<ResourcePage> =>
  until(async () => {
    const page = await provider.list(uri, PAGE, ctx);
    return listAgain(provider, page, uri) && page;
  }, 'a list that can be given again');

const namesIn = ({ resources }: ResourcePage): string[] => resources.map(({ name }) => name);

/** Everything that can happen to a directory between two lists. */
const DIRECTORY_CHANGES: typeof CHANGES = [
  ['has another entry', (folder) => folder.write('root/way/b.txt', 'new')],
  ['has an entry less', (_, file) => rm(file)],
  ['has an entry under another name', (folder, file) => rename(file, folder.at('root/way/b.txt'))],
  [
    'has a folder where a file was',
    async (_, file) => {
      await rm(file);
      await mkdir(file);
    },
  ],
  ['is gone', (folder) => rm(folder.at('root/way'), { recursive: true })],
  [
    'is a file',
    async (folder) => {
      await rm(folder.at('root/way'), { recursive: true });
      await folder.write('root/way', 'a file');
    },
  ],
  ['may not be read any more', (folder) => chmod(folder.at('root/way'), 0o300)],
  [
    'is another folder that took its name',
    async (folder) => {
      await rename(folder.at('root/way'), folder.at('root/was'));
      await rename(folder.at('root/other'), folder.at('root/way'));
    },
  ],
  [
    'is the same folder behind a link',
    async (folder) => {
      await rename(folder.at('root/way'), folder.at('moved'));
      await symlink(folder.at('moved'), folder.at('root/way'));
    },
  ],
  [
    'is the same, and the folder that is served has moved',
    async (folder) => {
      await rename(folder.at('root'), folder.at('moved'));
      await symlink(folder.at('moved'), folder.at('root'));
    },
  ],
];

describe.runIf(process.platform === 'linux')('a directory that was listed', () => {
  it('is unchanged at each look, and so is the list of the root alone', async () => {
    await using place = await served();
    for (const uri of [WAY, undefined]) {
      const page = await settledPage(place.provider, uri);
      expect(isRepeatable(page)).toBe(true);
      expect(await place.provider.list(uri, PAGE, ctx)).toEqual(page);
    }
  });

  it.each(DIRECTORY_CHANGES)('has changed when it %s [SEC-RES-1]', async (_, change) => {
    await using place = await served({ watch: false });
    const page = await settledPage(place.provider, WAY);
    await change(place.folder, place.folder.at('root/way/a.txt'));
    expect(listAgain(place.provider, page, WAY)).toBe(false);
  });

  it('is looked at again when a watch reports an entry, and after a second at the latest', async () => {
    for (const watch of [true, false]) {
      await using place = await served({ watch });
      const page = await settledPage(place.provider, WAY);
      await writeFile(place.folder.at('root/way/a.txt'), 'much longer than it was');
      await until(() => !listAgain(place.provider, page, WAY), 'a list that is looked at again');
      const { resources } = await place.provider.list(WAY, PAGE, ctx);
      expect(resources[0]?.size).toBe(23);
      await place.provider.close?.();
    }
  });

  it('does not count as unchanged under another spelling of its URI, nor for another page', async () => {
    await using place = await served();
    const page = await settledPage(place.provider, WAY);
    expect(namesIn(page)).toEqual(['a.txt']);
    for (const uri of ['file:///way/', 'file:///%77ay', 'file:///other', undefined])
      expect(place.provider.listAgain?.(page, uri, PAGE, ctx)).toBe(false);
    for (const part of [{ limit: 9 }, { ...PAGE, cursor: 'fa.txt' }])
      expect(place.provider.listAgain?.(page, WAY, part, ctx)).toBe(false);
  });

  it.each<[string, string, Partial<FilesOptions>]>([
    ['behind a link', 'file:///link', {}],
    ['under rules of files that can change', WAY, { gitignore: true }],
  ])('cannot be checked when it is %s', async (_, uri, options) => {
    await using place = await served(options);
    await symlink('way', place.folder.at('root/link'));
    await settledPage(await filesProvider({ path: place.folder.at('root') }), WAY);
    for (let times = 0; times < 4; times++) {
      const page = await place.provider.list(uri, PAGE, ctx);
      expect(isRepeatable(page) || listAgain(place.provider, page, uri)).toBe(false);
    }
  });
});
