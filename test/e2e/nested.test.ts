/** Archives and databases in a served folder, gone into like folders (`nested: on`), by a real client of either era. */
import { appendFile, readdir, readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { DatabaseSync } from '@photostructure/sqlite';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packTar } from '../fixtures/tar.ts';
import { embeddedIn } from '../tools/engine.ts';
import { bytesOf, drain, failure, metadata, read, readOne } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, DIAGONAL } from './harness.ts';
import { collectNotices, subscribe } from './notices.ts';
import { within } from './waiting.ts';

const LONG = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251));

const packed = (text: string): Uint8Array =>
  zipSync({
    'readme.md': [strToU8(text), { mtime: new Date(2024, 4, 6) }],
    'guide/100% café.txt': strToU8('a clock\n'),
    'guide/long.bin': LONG,
    'guide/stored.bin': [LONG, { level: 0 }],
    'secret/key.txt': strToU8('hush\n'),
    '.env': strToU8('PASSWORD=clock\n'),
    'guide/server.pem': strToU8('a clock\n'),
    'inner.zip': zipSync({ 'deep.txt': strToU8('deep\n'), 'third.zip': zipSync({ 'x.txt': strToU8('x') }) }),
  });

function database(path: string): void {
  const db = new DatabaseSync(path);
  db.exec("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO people VALUES (1, 'Ada'), (2, 'Bo')");
  db.close();
}

async function scene(): Promise<Folder> {
  const folder = await temporaryFolder({
    'docs/plain.txt': 'plain\n',
    'docs/pack.zip': packed('# One\n'),
    'docs/old.tar': packTar(new Map([['a/b.txt', Buffer.from('in a tar\n')]])),
    'docs/old.tgz': gzipSync(packTar(new Map([['a/b.txt', Buffer.from('in a tgz\n')]]))),
    'docs/broken.zip': 'PK\u0003\u0004 is no archive',
    'docs/Thumbs.db': 'not a database at all',
    'docs/broken.db': Buffer.concat([Buffer.from('SQLite format 3\0', 'latin1'), Buffer.alloc(5_000, 7)]),
    'docs/folder.zip/inside.txt': 'a folder\n',
  });
  database(folder.at('docs', 'data.db'));
  return folder;
}

const config = (nested: unknown): object => ({
  mounts: { docs: { path: 'docs', prefix: 'none', nested } },
  access: {
    default: 'allow',
    rules: [{ effect: 'hide', uris: ['file:///pack.zip/secret/**'] }],
  },
});

describe.each(DIAGONAL)('nested: on, over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  beforeAll(async () => {
    folder = await scene();
    server = await connect(transport, era, ['--config', await writeConfig(folder, config('on'))]);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  const list = async (uri: string): Promise<string[]> =>
    (await drain(server, 'resources/list', { uri })).map((each) => each.uri);

  it('says of each file whether it can be listed, and keeps its content [RES-1, 2093-3]', async () => {
    const entries = await drain(server, 'resources/list', { uri: 'file:///' });
    const listable = entries.filter(({ capabilities }) => capabilities?.list).map(({ name }) => name);
    expect(listable.sort()).toEqual(
      ['broken.db', 'broken.zip', 'data.db', 'folder.zip', 'old.tar', 'old.tgz', 'pack.zip'].sort(),
    );
    expect(await metadata(server, 'file:///pack.zip')).toMatchObject({
      mimeType: 'application/zip',
      capabilities: { list: true, subscribe: true },
    });
    const whole = await readFile(folder.at('docs', 'pack.zip'));
    expect(bytesOf(await readOne(server, 'file:///pack.zip')).equals(whole)).toBe(true);
    expect((await readOne(server, 'file:///folder.zip/inside.txt')).text).toBe('a folder\n');
  });

  it('lists and describes the files in a zip, and reads them whole and in windows [2093-1, 2093-4]', async () => {
    expect(await list('file:///pack.zip')).toEqual([
      'file:///pack.zip/guide',
      'file:///pack.zip/inner.zip',
      'file:///pack.zip/readme.md',
    ]);
    expect(await list('file:///pack.zip/guide/')).toEqual([
      'file:///pack.zip/guide/100%25%20caf%C3%A9.txt',
      'file:///pack.zip/guide/long.bin',
      'file:///pack.zip/guide/stored.bin',
    ]);
    expect(await metadata(server, 'file:///pack.zip/readme.md')).toMatchObject({
      uri: 'file:///pack.zip/readme.md',
      name: 'readme.md',
      size: 6,
      mimeType: 'text/markdown',
      annotations: { lastModified: expect.stringContaining('2024-05-06') },
      capabilities: { list: false, subscribe: true },
    });
    expect((await readOne(server, 'file:///pack.zip/guide/100%25%20caf%C3%A9.txt')).text).toBe('a clock\n');
    for (const name of ['long.bin', 'stored.bin']) {
      const uri = `file:///pack.zip/guide/${name}`;
      expect(bytesOf(await readOne(server, uri)).equals(LONG), name).toBe(true);
      const part = await readOne(server, uri, { offset: 100_001, length: 7 });
      expect(bytesOf(part).equals(LONG.subarray(100_001, 100_008)), name).toBe(true);
    }
    expect(await failure(read(server, 'file:///pack.zip/none.txt'))).toMatchObject({
      code: -32602,
      data: { uri: 'file:///pack.zip/none.txt' },
    });
  });

  it('opens tar archives, and an archive in an archive, and no deeper', async () => {
    expect((await readOne(server, 'file:///old.tar/a/b.txt')).text).toBe('in a tar\n');
    expect((await readOne(server, 'file:///old.tgz/a/b.txt')).text).toBe('in a tgz\n');
    expect(await list('file:///pack.zip/inner.zip')).toEqual([
      'file:///pack.zip/inner.zip/deep.txt',
      'file:///pack.zip/inner.zip/third.zip',
    ]);
    expect((await readOne(server, 'file:///pack.zip/inner.zip/deep.txt')).text).toBe('deep\n');
    expect(await metadata(server, 'file:///pack.zip/inner.zip/third.zip')).toMatchObject({
      capabilities: { list: false },
    });
    expect((await failure(read(server, 'file:///pack.zip/inner.zip/third.zip/x.txt'))).code).toBe(-32602);
  });

  it('opens a SQLite file: lists its tables and rows, reads a row, and refuses a row that does not exist [2093-4]', async () => {
    expect(await list('file:///data.db')).toContain('file:///data.db/people');
    expect(await list('file:///data.db/people')).toContain('file:///data.db/people/2');
    const row = (await read(server, 'file:///data.db/people/1')).find(
      ({ mimeType }) => mimeType === 'application/json',
    );
    expect(JSON.parse(row?.text ?? '')).toMatchObject({ row: { id: 1, name: 'Ada' } });
    expect(row?.uri).toBe('file:///data.db/people/1');
    expect((await failure(metadata(server, 'file:///data.db/people/77'))).code).toBe(-32602);
  });

  it('lets rules hide files in an archive, in every spelling [SEC-RES-2]', async () => {
    for (const uri of [
      'file:///pack.zip/secret/key.txt',
      'file:///pack.zip/%73ecret/key.txt',
      'file:///pack.zip/secret/',
    ])
      expect((await failure(read(server, uri))).code, uri).toBe(-32602);
    const all = (await drain(server, 'resources/list')).map(({ uri }) => uri);
    expect(all).toContain('file:///pack.zip/guide/long.bin');
    expect(all.filter((uri) => uri.includes('secret'))).toEqual([]);
  });

  it('hides names in an archive that it would hide in a folder', async () => {
    for (const uri of ['file:///pack.zip/.env', 'file:///pack.zip/guide/server.pem'])
      expect((await failure(read(server, uri))).code, uri).toBe(-32602);
    const children = await read(server, 'file:///pack.zip/guide');
    expect(children.map(({ uri }) => uri)).not.toContain('file:///pack.zip/guide/server.pem');
  });

  it('reports why a file cannot be opened, and lists everything else [2093-4]', async () => {
    expect(await failure(list('file:///broken.zip'))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('The file is damaged or is not an archive'),
    });
    const broken = await failure(list('file:///broken.db'));
    expect(broken).toMatchObject({ code: -32602, message: expect.stringMatching(/database/) });
    expect(broken.message).not.toContain(folder.path);
    expect((await failure(list('file:///Thumbs.db'))).code).toBe(-32602);
    expect((await failure(list('file:///plain.txt'))).code).toBe(-32602);
    const all = (await drain(server, 'resources/list')).map(({ uri }) => uri);
    for (const name of ['broken.zip', 'broken.db', 'Thumbs.db', 'plain.txt', 'pack.zip/readme.md', 'data.db/people/1'])
      expect(all).toContain(`file:///${name}`);
  });

  it('finds text in archives, too', async () => {
    const result = await server.client.callTool({
      name: 'search',
      arguments: { pattern: 'clock|in a t.r', context: 0 },
    });
    expect(
      embeddedIn(result as never)
        .map(({ uri }) => uri.replace(/#.*/, ''))
        .sort(),
    ).toEqual(['file:///old.tar/a/b.txt', 'file:///pack.zip/guide/100%25%20caf%C3%A9.txt']);
  });

  it('reads and reports changes in an archive and in a database [RES-4]', async () => {
    const notices = await collectNotices(server);
    const subscription = await subscribe(server, ['file:///pack.zip/readme.md', 'file:///data.db/people/1']);
    await folder.write('docs/pack.zip', packed('# Two, and longer\n'));
    await notices.told('file:///pack.zip/readme.md');
    expect((await readOne(server, 'file:///pack.zip/readme.md')).text).toBe('# Two, and longer\n');
    const db = new DatabaseSync(folder.at('docs', 'data.db'));
    db.exec("UPDATE people SET name = 'Eve' WHERE id = 1");
    db.close();
    await notices.told('file:///data.db/people/1');
    const texts = (await read(server, 'file:///data.db/people/1')).map(({ text }) => text ?? '');
    expect(texts.join('')).toContain('Eve');
    await subscription.end();
    await appendFile(folder.at('docs', 'pack.zip'), 'no archive any more');
    expect((await failure(read(server, 'file:///pack.zip/readme.md'))).code).toBe(-32602);
    await folder.write('docs/pack.zip', packed('# One\n'));
    expect((await readOne(server, 'file:///pack.zip/readme.md')).text).toBe('# One\n');
  });
});

describe('nested', () => {
  it('is off by default, and opens only the kinds that it names', async () => {
    await using folder = await scene();
    for (const [nested, readable] of [
      [undefined, []],
      ['off', []],
      [['tar'], ['file:///old.tar/a/b.txt']],
    ] as const) {
      await using server = await connect('http', 'modern', ['--config', await writeConfig(folder, config(nested))]);
      const uris = (await drain(server, 'resources/list')).map(({ uri }) => uri);
      expect(
        uris.filter((uri) => /\.(?:zip|tar|db)\/(?!inside)(?!.*\/$)[^/]+/.test(uri) && uri.endsWith('.txt')),
      ).toEqual(readable);
      expect((await failure(read(server, 'file:///pack.zip/readme.md'))).code).toBe(-32602);
    }
  });

  it('leaves no file open when the server has ended', async () => {
    await using folder = await scene();
    const open = async (): Promise<number> => (await readdir('/proc/self/fd')).length;
    const file = await writeConfig(folder, config('on'));
    const use = async (): Promise<void> => {
      await using server = await connect('stdio', 'modern', ['--config', file]);
      for (const uri of ['file:///pack.zip/inner.zip/deep.txt', 'file:///data.db/people/1', 'file:///old.tgz/a/b.txt'])
        await read(server, uri);
      await failure(drain(server, 'resources/list', { uri: 'file:///broken.db' }));
    };
    await within(use(), 'the first use');
    const before = await open();
    for (let round = 0; round < 3; round++) await within(use(), 'a use');
    expect(await open()).toBeLessThanOrEqual(before);
  });
});
