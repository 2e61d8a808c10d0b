/** `resources/read` and `resources/directory/read` of folders. */
import { chmod } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION_META_KEY } from '../../src/protocol/meta.ts';
import { bytesOf, described, drain, failure, type Item, metadata, missing, read, readOne } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, DIAGONAL, MATRIX } from './harness.ts';
import { until } from './waiting.ts';

const isFolder = (item: Item): boolean => item.capabilities?.list === true;

describe.each(MATRIX)('reading folders over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  beforeAll(async () => {
    folder = await temporaryFolder({
      'box/inner/deep.txt': 'deep',
      'box/hollow/': '',
      'box/a.md': '# A\n',
      'box/b.bin': Uint8Array.of(0, 1, 2, 250),
      'box/empty.txt': '',
      'beside.txt': 'beside',
    });
    server = await connect(transport, era, [folder.path]);
    // A file that was just written has no version yet, which would be a difference between two reads.
    const isVersioned = ({ _meta }: Item): boolean => _meta?.[VERSION_META_KEY] !== undefined;
    await until(
      async () => (await read(server, 'file:///box')).every((item) => bytesOf(item).length === 0 || isVersioned(item)),
      'versions of new files',
    );
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  it('gives the children, each whole and under its own URI [2093-1, 2093-5]', async () => {
    const children = await read(server, 'file:///box');
    expect(children.map(({ uri }) => uri)).toEqual([
      'file:///box/hollow',
      'file:///box/inner',
      'file:///box/a.md',
      'file:///box/b.bin',
      'file:///box/empty.txt',
    ]);
    for (const child of children) {
      expect(described(child)).toEqual(await metadata(server, child.uri));
      if (!isFolder(child)) expect(bytesOf(child).equals(bytesOf(await readOne(server, child.uri)))).toBe(true);
    }
  });

  it('gives a child that is a folder without content [2093-5]', async () => {
    const folders = (await read(server, 'file:///box')).filter(isFolder);
    expect(folders.map(({ name }) => name)).toEqual(['hollow', 'inner']);
    for (const item of folders) {
      expect(bytesOf(item).byteLength).toBe(0);
      expect(item.mimeType).toBe('inode/directory');
      expect(item).not.toHaveProperty('size');
    }
  });

  it('accepts a trailing slash, which editors send to get children [2093-5]', async () => {
    const children = await read(server, 'file:///box/');
    expect(children).toEqual(await read(server, 'file:///box'));
    for (const { uri } of children) expect(uri.startsWith('file:///box/')).toBe(true);
    expect((await read(server, 'file:///')).map(({ uri }) => uri)).toEqual(['file:///box', 'file:///beside.txt']);
  });

  it('reads an empty folder as no children [2093-5]', async () => {
    expect(await read(server, 'file:///box/hollow')).toEqual([]);
  });

  it('lists with resources/directory/read the entries of resources/list [2093-4]', async () => {
    for (const uri of ['file:///', 'file:///box', 'file:///box/']) {
      const children = await drain(server, 'resources/directory/read', { uri });
      expect(children).toEqual(await drain(server, 'resources/list', { uri }));
      expect(children.length).toBeGreaterThan(0);
    }
  });

  it('lists an empty folder as an empty array, not as an error [2093-4]', async () => {
    expect(await drain(server, 'resources/directory/read', { uri: 'file:///box/hollow' })).toEqual([]);
    expect(await drain(server, 'resources/list', { uri: 'file:///box/hollow' })).toEqual([]);
  });

  it('refuses resources/directory/read of a file, of a missing resource, and without a URI [2093-4, RES-6]', async () => {
    const read = (params: Record<string, unknown>) => failure(server.request('resources/directory/read', params));
    expect(await read({ uri: 'file:///beside.txt' })).toMatchObject({ code: -32602, data: { reason: 'not-listable' } });
    expect(await read({ uri: 'file:///nothing' })).toMatchObject(missing(era, 'file:///nothing'));
    expect(await read({})).toMatchObject({ code: -32602 });
  });

  it('refuses a window of a folder, which has no bytes', async () => {
    const refused = await failure(read(server, 'file:///box', { offset: 0, length: 10 }));
    expect(refused).toMatchObject({ code: -32602, data: { uri: 'file:///box', reason: 'invalid' } });
  });
});

describe.each(DIAGONAL)('limits of reading folders over $transport, $era', ({ transport, era }) => {
  it('gives a limited set: as many children as allowed, and none in part [2093-5, SEC-RES-3]', async () => {
    await using folder = await temporaryFolder({
      ...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`many/${n}.txt`, `${n}`])),
      'heavy/1.txt': 'x'.repeat(600),
      'heavy/2.txt': 'x'.repeat(600),
      'heavy/3.txt': 'x'.repeat(300),
      'heavy/4.txt': 'x'.repeat(2_000),
    });
    const config = await writeConfig(folder, {
      limits: { maxChildren: 3, maxReadBytes: 1_000 },
      mounts: { many: './many', heavy: './heavy' },
    });
    await using server = await connect(transport, era, ['--config', config]);
    const many = await read(server, 'many+file:///');
    expect(many.map(({ name }) => name)).toEqual(['1.txt', '2.txt', '3.txt']);
    // The second child does not fit after the first one, and the third one still does.
    const heavy = await read(server, 'heavy+file:///');
    expect(heavy.map(({ name, text }) => [name, text?.length])).toEqual([
      ['1.txt', 600],
      ['3.txt', 300],
    ]);
    expect(await drain(server, 'resources/list', { uri: 'heavy+file:///' })).toHaveLength(4);
  });

  it.skipIf(process.getuid?.() === 0)('leaves out a child that may not be read [2093-5]', async () => {
    await using folder = await temporaryFolder({ 'open.txt': 'open', 'closed.txt': 'closed' });
    await chmod(folder.at('closed.txt'), 0);
    await using server = await connect(transport, era, [folder.path]);
    expect((await read(server, 'file:///')).map(({ name }) => name)).toEqual(['open.txt']);
    expect(await failure(read(server, 'file:///closed.txt'))).toMatchObject({ data: { reason: 'denied' } });
  });
});
