/** Pages of lists, and the ends of lists. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drain, HINTS, hintsIn, type ListAnswer, pages } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, DIAGONAL, MATRIX } from './harness.ts';

/** Three levels: 6 folders, 5 files in each of two of them, and 7 files at the root. */
const TREE: Record<string, string> = {
  ...Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [`data/${name}/`, ''])),
  ...Object.fromEntries([1, 2, 3, 4, 5].flatMap((n) => [`data/a/${n}.txt`, `data/f/${n}.txt`]).map((n) => [n, n])),
  ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((number) => [`data/file-${number}.txt`, `${number}`])),
};
const ENTRIES = 1 + 6 + 7 + 10;

describe.each(MATRIX)('paging over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let small: Connected;
  beforeAll(async () => {
    folder = await temporaryFolder(TREE);
    const config = await writeConfig(folder, { limits: { pageSize: 3 }, mounts: { data: './data' } });
    small = await connect(transport, era, ['--config', config]);
  });
  afterAll(async () => {
    await small.close();
    await folder[Symbol.asyncDispose]();
  });

  it.each(['resources/list', 'resources/directory/read'])('gives %s of a folder [2093-4, RES-6]', async (method) => {
    const all = await pages(small, method, { uri: 'data+file:///' });
    expect(all.map(({ resources }) => resources.length)).toEqual([3, 3, 3, 3, 1]);
    const names = all.flatMap(({ resources }) => resources.map(({ name }) => name));
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e', 'f', ...[1, 2, 3, 4, 5, 6, 7].map((n) => `file-${n}.txt`)]);
  });

  it('gives the default list without lost and repeated entries [2093-4, RES-6]', async () => {
    const all = await pages(small, 'resources/list');
    expect(Math.max(...all.map(({ resources }) => resources.length))).toBe(3);
    const uris = all.flatMap(({ resources }) => resources.map(({ uri }) => uri));
    expect(new Set(uris).size).toBe(ENTRIES);
    expect(uris).toHaveLength(ENTRIES);
    expect(uris.slice(-10)).toEqual(
      ['a', 'f'].flatMap((name) => [1, 2, 3, 4, 5].map((n) => `data+file:///${name}/${n}.txt`)),
    );
  });

  it('has cache hints on every page [RES-6]', async () => {
    for (const page of await pages(small, 'resources/list')) {
      expect(hintsIn({ ...page })).toEqual(HINTS[era]);
    }
  });

  it('has no cursor on the last page, and opaque cursors [SEC-UTIL-1]', async () => {
    const all = await pages(small, 'resources/list', { uri: 'data+file:///' });
    expect(all.at(-1)).not.toHaveProperty('nextCursor');
    for (const { nextCursor } of all.slice(0, -1)) {
      expect(nextCursor).toMatch(/^[\w-]{40,}$/);
      expect(Buffer.from(nextCursor ?? '', 'base64url').toString('latin1')).not.toMatch(/file-|data/);
    }
  });
});

describe.each(DIAGONAL)('limits of lists over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  beforeAll(async () => {
    folder = await temporaryFolder(TREE);
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  it('continues at its position when entries are added and removed in between [RES-6]', async () => {
    await using changing = await temporaryFolder(
      Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8].map((n) => [`data/${n}.txt`, ''])),
    );
    const config = await writeConfig(changing, { limits: { pageSize: 3 }, mounts: { data: './data' } });
    await using server = await connect(transport, era, ['--config', config]);
    const list = (cursor?: string): Promise<ListAnswer> =>
      server.request<ListAnswer>('resources/list', { uri: 'data+file:///', ...(cursor !== undefined && { cursor }) });
    const first = await list();
    await changing.write('data/0.txt', 'before what was seen');
    await rm(changing.at('data', '2.txt'));
    const second = await list(first.nextCursor);
    const third = await list(second.nextCursor);
    const names = [first, second, third].flatMap(({ resources }) => resources.map(({ name }) => name));
    expect(names).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `${n}.txt`));
    expect(third.nextCursor).toBeUndefined();
  });

  it('lists only the roots if configured [RES-6]', async () => {
    const config = await writeConfig(
      folder,
      { listing: 'roots', mounts: { data: './data', again: './data/a' } },
      'roots.yaml',
    );
    await using server = await connect(transport, era, ['--config', config]);
    const answer = await server.request<ListAnswer>('resources/list');
    expect(answer.resources.map(({ uri }) => uri)).toEqual(['data+file:///', 'again+file:///']);
    expect(answer).not.toHaveProperty('nextCursor');
    expect(await drain(server, 'resources/list', { uri: 'data+file:///' })).toHaveLength(13);
  });

  it.each([
    ['maxResources', { maxResources: 10 }, 10],
    ['maxDepth', { maxDepth: 2 }, 1 + 6 + 7],
  ])('ends the default list at %s, and says so [RES-6]', async (limit, listing, count) => {
    const config = await writeConfig(
      folder,
      { listing, limits: { pageSize: 4 }, mounts: { data: './data' } },
      `${limit}.yaml`,
    );
    await using server = await connect(transport, era, ['--config', config]);
    const all = await pages(server, 'resources/list');
    expect(all.flatMap(({ resources }) => resources)).toHaveLength(count);
    expect(all.at(-1)?._meta).toMatchObject({ 'vitrine/truncatedBy': limit });
    for (const page of all.slice(0, -1)) expect(page._meta ?? {}).not.toHaveProperty('vitrine/truncatedBy');
  });

  it('does not mark a list as cut that fits its limits exactly [RES-6]', async () => {
    const config = await writeConfig(
      folder,
      { listing: { maxResources: ENTRIES, maxDepth: 3 }, mounts: { data: './data' } },
      'exact.yaml',
    );
    await using server = await connect(transport, era, ['--config', config]);
    const all = await pages(server, 'resources/list');
    expect(all.flatMap(({ resources }) => resources)).toHaveLength(ENTRIES);
    for (const page of all) expect(page._meta ?? {}).not.toHaveProperty('vitrine/truncatedBy');
  });
});
