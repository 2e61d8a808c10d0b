/** A SQLite file on the command line, as in `vitrine serve ./store.sqlite`, and in a configuration, over the wire. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, connectStdio, DIAGONAL } from '../../e2e/harness.ts';
import { makeStore } from './sqlite-store.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-serve-sql-'));
  makeStore(join(folder, 'store.sqlite')).close();
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

interface Contents {
  readonly contents: readonly {
    readonly uri: string;
    readonly mimeType: string;
    readonly text?: string;
    readonly blob?: string;
  }[];
}

describe.each(DIAGONAL)('a SQLite file on the command line, $transport, $era', ({ transport, era }) => {
  it('is listed, read in the accepted format, and completed [RES-5]', async () => {
    await using server = await connect(transport, era, [join(folder, 'store.sqlite')]);
    const { resources } = await server.request<{ resources: { uri: string }[] }>('resources/list', {
      uri: 'sqlite:///Artist',
    });
    expect(resources.slice(0, 4).map(({ uri }) => uri)).toEqual([
      'sqlite:///Artist/~schema',
      'sqlite:///Artist/~rows',
      'sqlite:///Artist/~count',
      'sqlite:///Artist/1',
    ]);
    const uri = 'sqlite:///Artist/~rows';
    const all = await server.request<Contents>('resources/read', { uri });
    expect(all.contents.map(({ mimeType }) => mimeType)).toEqual(['application/json', 'text/csv', 'text/markdown']);
    const one = await server.request<Contents>('resources/read', { uri, _meta: { 'vitrine/accept': ['text/csv'] } });
    expect(one.contents.map(({ uri: own, mimeType, text }) => [own, mimeType, text?.split('\r\n')[1]])).toEqual([
      [uri, 'text/csv', '1,birch kestrel 1'],
    ]);
    const cover = await server.request<Contents>('resources/read', { uri: 'sqlite:///Album/1/Cover' });
    expect(Buffer.from(cover.contents[0]?.blob ?? '', 'base64')).toHaveLength(37);
    const { completion } = await server.request<{ completion: { values: string[] } }>('completion/complete', {
      ref: { type: 'ref/resource', uri: 'sqlite:///Artist/{ArtistId}' },
      argument: { name: 'ArtistId', value: '2' },
    });
    expect(completion.values).toEqual(['2', '20']);
    const missing = server.request('resources/read', { uri: 'sqlite:///Artist/999' });
    await expect(missing).rejects.toMatchObject({ code: -32602 });
  });
});

describe('a database in a configuration', () => {
  it('can come from a variable of the environment or its default, and has URIs with the name of its mount', async () => {
    const config = join(folder, 'vitrine.yaml');
    const lines = [
      'mounts:',
      '  shop:',
      `    sql: \${SHOP_DATABASE:-./store.sqlite}`,
      '    tables: { include: [Artist, Genre] }',
      '    watch: false',
    ];
    await writeFile(config, lines.join('\n'));
    await using server = await connectStdio('modern', [config]);
    const { resources } = await server.request<{ resources: { uri: string }[] }>('resources/list', {
      uri: 'shop+sqlite:///',
    });
    expect(resources.map(({ uri }) => uri)).toEqual([
      'shop+sqlite:///~schema',
      'shop+sqlite:///Artist',
      'shop+sqlite:///Genre',
    ]);
    expect(server.stderr()).toBe('');
  });
});
