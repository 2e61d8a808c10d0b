/** Several mounts in one tree: their prefixes, and the separation of their resources. */
import { appendFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drain, failure, metadata, missing, read, readOne, refusedAs } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, DIAGONAL, MATRIX } from './harness.ts';
import { collectNotices, subscribe } from './notices.ts';

describe.each(MATRIX)('two mounts over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  beforeAll(async () => {
    folder = await temporaryFolder({
      'docs/readme.md': '# docs',
      'docs/guide/intro.md': 'intro',
      'data/readme.md': '# data',
      'data/numbers.csv': '1,2\n',
    });
    const config = await writeConfig(folder, { mounts: { docs: './docs', 'data-2.x': './data' } });
    server = await connect(transport, era, ['--config', config]);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  it('are both listed, each under its prefix, roots first [2093-4]', async () => {
    const uris = (await drain(server, 'resources/list')).map(({ uri }) => uri);
    expect(uris).toEqual([
      'docs+file:///',
      'data-2.x+file:///',
      'docs+file:///guide',
      'docs+file:///readme.md',
      'data-2.x+file:///numbers.csv',
      'data-2.x+file:///readme.md',
      'docs+file:///guide/intro.md',
    ]);
  });

  it('name their roots after the mounts [RES-6]', async () => {
    expect(await metadata(server, 'docs+file:///')).toMatchObject({ name: 'docs', mimeType: 'inode/directory' });
    expect(await metadata(server, 'data-2.x+file:///')).toMatchObject({ name: 'data-2.x' });
  });

  it('keep files of the same name apart [2093-6]', async () => {
    expect((await readOne(server, 'docs+file:///readme.md')).text).toBe('# docs');
    expect((await readOne(server, 'data-2.x+file:///readme.md')).text).toBe('# data');
  });

  it('use their prefix in every answer [2093-1, 2093-5]', async () => {
    const children = await read(server, 'docs+file:///');
    expect(children.map(({ uri }) => uri)).toEqual(['docs+file:///guide', 'docs+file:///readme.md']);
    const listed = await drain(server, 'resources/directory/read', { uri: 'docs+file:///guide' });
    expect(listed.map(({ uri }) => uri)).toEqual(['docs+file:///guide/intro.md']);
  });

  it('use the published URI in errors [RES-6]', async () => {
    for (const [method, uri, reason] of [
      ['resources/read', 'docs+file:///nothing', 'not-found'],
      ['resources/metadata', 'docs+file:///numbers.csv', 'not-found'],
      ['resources/list', 'docs+file:///readme.md', 'not-listable'],
      ['resources/read', 'docs+file:///..%2fdata/readme.md', 'invalid'],
      ['resources/read', 'docs+file:///../data/readme.md', 'invalid'],
    ] as const) {
      expect(await failure(server.request(method, { uri }))).toMatchObject(refusedAs(era, uri, reason));
    }
  });

  it.each([
    'file:///readme.md',
    'other+file:///readme.md',
    'docs+other:///readme.md',
    'docs+docs+file:///readme.md',
    '+file:///',
  ])('do not answer requests for %s', async (uri) => {
    expect((await failure(read(server, uri))).code).toBe(-32602);
  });

  it('accept the prefix in upper and lower case, as for schemes [RES-1]', async () => {
    expect((await readOne(server, 'DOCS+file:///readme.md')).text).toBe('# docs');
  });

  it('report changes under their prefix [RES-4]', async () => {
    const notices = await collectNotices(server);
    const subscription = await subscribe(server, ['docs+file:///readme.md', 'data-2.x+file:///readme.md']);
    await appendFile(folder.at('data', 'readme.md'), '\n');
    await notices.told('data-2.x+file:///readme.md');
    expect(notices.count('docs+file:///readme.md')).toBe(0);
    await appendFile(folder.at('docs', 'readme.md'), '\n');
    await notices.told('docs+file:///readme.md');
    await subscription.end();
  });
});

describe.each(DIAGONAL)('ways to mount over $transport, $era', ({ transport, era }) => {
  it('names paths of the command line by their last part, with a number if two are equal', async () => {
    await using folder = await temporaryFolder({ 'a/My Docs/x.md': '', 'b/my docs/y.md': '', 'b/C++/z.md': '' });
    const paths = [folder.at('a', 'My Docs'), folder.at('b', 'my docs'), folder.at('b', 'C++')];
    await using server = await connect(transport, era, paths);
    const files = (await drain(server, 'resources/list')).filter(({ size }) => size !== undefined);
    expect(files.map(({ uri }) => uri)).toEqual(['my-docs+file:///x.md', 'my-docs-2+file:///y.md', 'c+file:///z.md']);
  });

  it('publishes the URIs of a single path of the command line without a prefix', async () => {
    await using folder = await temporaryFolder({ 'docs/x.md': 'x' });
    await using server = await connect(transport, era, [folder.at('docs')]);
    expect((await drain(server, 'resources/list')).map(({ uri }) => uri)).toEqual(['file:///', 'file:///x.md']);
  });

  it('serves a single file as the only one of its folder', async () => {
    await using folder = await temporaryFolder({ 'shown.md': 'shown', 'beside.md': 'beside' });
    await using server = await connect(transport, era, [folder.at('shown.md')]);
    expect((await drain(server, 'resources/list')).map(({ uri }) => uri)).toEqual(['file:///', 'file:///shown.md']);
    expect(await failure(read(server, 'file:///beside.md'))).toMatchObject(missing(era, 'file:///beside.md'));
  });

  it('publishes one mount without a prefix beside one with a prefix', async () => {
    await using folder = await temporaryFolder({ 'docs/x.md': 'docs', 'data/x.md': 'data' });
    const config = await writeConfig(folder, {
      mounts: { docs: { path: './docs', prefix: 'none' }, data: { path: './data' } },
    });
    await using server = await connect(transport, era, ['--config', config]);
    expect((await readOne(server, 'file:///x.md')).text).toBe('docs');
    expect((await readOne(server, 'data+file:///x.md')).text).toBe('data');
  });

  it('shows hidden files, and files with credentials, only if the mount says so', async () => {
    const files = { '.hidden': '', '.env': 'A=1', id_rsa: '', 'seen.txt': '', '.git/HEAD': '' };
    await using folder = await temporaryFolder(
      Object.fromEntries(Object.entries(files).map(([name, text]) => [`data/${name}`, text])),
    );
    const mount = { path: './data' };
    const config = await writeConfig(folder, {
      mounts: {
        plain: './data',
        hidden: { ...mount, hidden: true },
        all: { ...mount, hidden: true, credentials: true, vcs: true },
      },
    });
    await using server = await connect(transport, era, ['--config', config]);
    const names = async (name: string): Promise<string[]> =>
      (await drain(server, 'resources/list', { uri: `${name}+file:///` })).map((resource) => resource.name);
    expect(await names('plain')).toEqual(['seen.txt']);
    expect(await names('hidden')).toEqual(['.hidden', 'seen.txt']);
    expect(await names('all')).toEqual(['.git', '.env', '.hidden', 'id_rsa', 'seen.txt']);
    for (const name of ['.env', '.hidden', 'id_rsa', '.git/HEAD']) {
      const uri = `plain+file:///${name}`;
      expect(await failure(read(server, uri))).toMatchObject(missing(era, uri));
    }
  });
});
