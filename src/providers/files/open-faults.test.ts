/** Tests that a file or directory that cannot be opened for the moment never counts as missing or hidden. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { until } from '../../../test/e2e/waiting.ts';
import { type Hands, startHands } from '../../../test/security/hands.ts';
import { refused, type Served, serveFiles } from '../../../test/security/served.ts';
import { createContext, type Log } from '../../core/context.ts';
import { createNotes } from '../../core/notes.ts';
import { searchProvider } from '../../core/search.ts';
import { DIRECT, POOLED } from './disk.ts';

let hands: Hands;

beforeAll(async () => {
  hands = await startHands();
});

afterAll(() => hands[Symbol.asyncDispose]());

afterEach(() => void vi.restoreAllMocks());

/** Lets the system refuse to open a path, whichever way it is opened. */
function refuseToOpen(path: string, code: string): void {
  for (const disk of [DIRECT, POOLED]) {
    const { open } = disk;
    vi.spyOn(disk, 'open').mockImplementation((asked, flags) =>
      asked === path ? Promise.reject(Object.assign(new Error(code), { code })) : open(asked, flags),
    );
  }
}

async function search({ provider }: Served): Promise<readonly string[]> {
  const found: string[] = [];
  const query = { pattern: 'clock', literal: true };
  for await (const { uri } of searchProvider(provider, query, createContext())) found.push(uri);
  return found;
}

/** A log that keeps its warnings. */
function listening(): { readonly log: Log; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  return { log: { ...createContext().log, warn: (message) => void warnings.push(message) }, warnings };
}

const TEMPORARY = ['EMFILE', 'ENFILE', 'EIO', 'ENOTCONN'];

// Other systems open other paths.
describe.runIf(process.platform === 'linux')('a search', () => {
  const files = { 'a.txt': 'clock', 'b.txt': 'clock' };

  it.each(TEMPORARY)('fails rather than leave out a file: %s', async (code) => {
    await using place = await serveFiles(files, { watch: false });
    refuseToOpen(place.folder.at('b.txt'), code);
    expect(['unavailable', 'internal']).toContain(await refused(search(place.served)));
    vi.restoreAllMocks();
    expect((await search(place.served)).toSorted()).toEqual(['file:///a.txt', 'file:///b.txt']);
  });

  it.each(['ENOENT', 'EACCES', 'EPERM'])('leaves out a file that is missing or forbidden: %s', async (code) => {
    await using place = await serveFiles(files, { watch: false });
    refuseToOpen(place.folder.at('b.txt'), code);
    expect(await search(place.served)).toEqual(['file:///a.txt']);
  });
});

describe.runIf(process.platform === 'linux')('a read of a directory', () => {
  const files = { 'a.txt': 'one', 'b.txt': 'two', 'd/c.txt': 'three' };

  /** Reads a directory. @returns the names of the children, and the missing parts */
  async function read({ provider }: Served, uri = 'file:///'): Promise<unknown> {
    const missing: unknown[] = [];
    const notes = { ...createNotes(), missing: (part: unknown) => void missing.push(part) };
    const bodies = await provider.read(uri, { maxBytes: 100, maxChildren: 9 }, createContext({ notes }));
    return { names: bodies.map(({ resource }) => resource.name), missing };
  }

  it.each(TEMPORARY)('says that a file is missing, and fails if all are: %s', async (code) => {
    await using place = await serveFiles(files, { watch: false });
    refuseToOpen(place.folder.at('b.txt'), code);
    const missing = [{ reason: 'Some children cannot be read now' }];
    expect(await read(place.served)).toEqual({ names: ['d', 'a.txt'], missing });
    vi.restoreAllMocks();
    refuseToOpen(place.folder.at('d/c.txt'), code);
    expect(['unavailable', 'internal']).toContain(await refused(read(place.served, 'file:///d')));
    expect(await read(place.served)).toEqual({ names: ['d', 'a.txt', 'b.txt'], missing: [] });
  });

  it.each(['ENOENT', 'EACCES', 'EPERM'])('leaves out a file that is missing or forbidden: %s', async (code) => {
    await using place = await serveFiles(files, { watch: false });
    refuseToOpen(place.folder.at('b.txt'), code);
    expect(await read(place.served)).toEqual({ names: ['d', 'a.txt'], missing: [] });
  });
});

describe.runIf(process.platform === 'linux')('a completion', () => {
  it.each(TEMPORARY)('fails rather than leave out a link: %s', async (code) => {
    await using place = await serveFiles({ 'a.txt': '' }, { watch: false });
    await hands.do(['symlink', 'a.txt', place.folder.at('link')]);
    refuseToOpen(place.folder.at('link'), code);
    expect(['unavailable', 'internal']).toContain(await refused(place.served.complete('l')));
    vi.restoreAllMocks();
    expect(await place.served.complete('l')).toEqual(['link']);
  });
});

describe.runIf(process.platform === 'linux')('a watch', () => {
  it.each([undefined, 'file:///x', 'file:///x/a.txt'])(
    'is refused if a directory cannot be opened: %s',
    async (uri) => {
      await using place = await serveFiles({ 'x/a.txt': '' });
      refuseToOpen(place.folder.at('x'), 'EMFILE');
      expect(await refused(place.served.watch(uri))).toBe('unavailable');
      vi.restoreAllMocks();
      await using watching = await place.served.watch(uri);
      await watching.told(() => hands.do(['unlink', place.folder.at('x/a.txt')]));
    },
  );

  it('of the list keeps the watches below a directory that cannot be opened, and looks at it again later', async () => {
    await using place = await serveFiles({ 'x/y/a.txt': '' });
    const { at } = place.folder;
    const { log, warnings } = listening();
    let told = 0;
    await using _watch = await place.served.provider.watch?.(undefined, () => void told++, createContext({ log }));
    refuseToOpen(at('x'), 'EMFILE');
    await hands.do(['mkdir', at('x/new')]);
    await until(() => warnings.length > 0, 'the warning');
    const before = told;
    await hands.do(['writeFile', at('x/y/b.txt'), '']);
    await until(() => told > before, 'a change below');
    vi.restoreAllMocks();
    await until(async () => {
      const already = told;
      await hands.do(['writeFile', at('x/new/c.txt'), ''], ['unlink', at('x/new/c.txt')]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return told > already;
    }, 'a change in the new directory');
    expect(warnings).toEqual(['changes of the list may go unnoticed']);
  });

  it('of the list goes on when the signal that it was opened with is aborted', async () => {
    await using place = await serveFiles({ 'x/a.txt': '' });
    const { at } = place.folder;
    const { log, warnings } = listening();
    const opening = new AbortController();
    let told = 0;
    const ctx = createContext({ log, signal: opening.signal });
    await using _watch = await place.served.provider.watch?.(undefined, () => void told++, ctx);
    opening.abort(new Error('the request is over'));
    await hands.do(['mkdir', at('x/new')]);
    await until(() => told > 0, 'the new directory');
    await until(async () => {
      const already = told;
      await hands.do(['writeFile', at('x/new/c.txt'), ''], ['unlink', at('x/new/c.txt')]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return told > already;
    }, 'a change in the new directory');
    expect(warnings).toEqual([]);
  });

  it.each(['file:///x', 'file:///x/a.txt'])('is moved to a new directory once that can be opened: %s', async (uri) => {
    await using place = await serveFiles({ 'x/a.txt': '' });
    const { at } = place.folder;
    const { log, warnings } = listening();
    let told = 0;
    await using _watch = await place.served.provider.watch?.(uri, () => void told++, createContext({ log }));
    refuseToOpen(at('x'), 'EMFILE');
    await hands.do(['rename', at('x'), at('old')], ['mkdir', at('x')]);
    await until(() => warnings.length > 0, 'the warning');
    vi.restoreAllMocks();
    await until(async () => {
      const already = told;
      await hands.do(['writeFile', at('x/a.txt'), ''], ['unlink', at('x/a.txt')]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return told > already;
    }, 'a change in the new directory');
  });
});
