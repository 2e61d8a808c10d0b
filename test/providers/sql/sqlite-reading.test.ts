/** Reads the record store as a SQLite file: whole, and in every format. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../../src/core/context.ts';
import type { ResourceProvider } from '../../../src/core/provider.ts';
import { FORMATS_META_KEY } from '../../../src/protocol/meta.ts';
import { sqlProvider } from '../../../src/providers/sql/index.ts';
import { drainBody, EVERYTHING, listAll, readLeaf } from '../../../src/testing/observe.ts';
import { jsonOf, pagesOf, readsWholeStore, resolved, textOf } from './reading.ts';
import { makeStore } from './sqlite-store.ts';
import { recordStore } from './store.ts';

const ctx = createContext();
let folder: string;
let provider: ResourceProvider;
let writer: ReturnType<typeof makeStore>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-store-'));
  writer = makeStore(join(folder, 'store.sqlite'));
  provider = await sqlProvider({
    sql: 'store.sqlite',
    base: folder,
    pageRows: 37,
    maxValueBytes: 500,
    queries: {
      'by-country': {
        sql: 'SELECT CustomerId, Name FROM Customer WHERE Country = ?1 ORDER BY CustomerId LIMIT ?2',
        parameters: {
          country: { suggest: 'SELECT DISTINCT Country FROM Customer ORDER BY 1' },
          limit: { type: 'integer', default: 3, values: ['1', '3', '100'] },
        },
        title: 'Customers of a country',
      },
      totals: { sql: 'SELECT count(*) AS n, count(*) AS n, sum(Total) FROM Invoice', description: 'Of all invoices' },
    },
  });
});

afterAll(async () => {
  await provider?.close?.();
  writer?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a SQLite file', () => {
  it('is read row by row and page by page, with no row lost or repeated [RES-5, RES-6]', async () => {
    await readsWholeStore(provider, 'sqlite://');
  });

  it('lists its tables and views, and their entries', async () => {
    expect((await listAll(provider, undefined)).map(({ uri, name }) => [uri, name])).toEqual([['sqlite:///', 'store']]);
    const names = recordStore().map(({ name }) => name);
    expect((await listAll(provider, 'sqlite:///')).map(({ name }) => name)).toEqual([
      '~queries',
      '~schema',
      ...[...names, 'AlbumOfArtist'].sort(),
    ]);
    const view = await listAll(provider, 'sqlite:///AlbumOfArtist');
    expect(view.map(({ name }) => name)).toEqual(['~schema', '~rows', '~count']);
    const [, , , first] = await listAll(provider, 'sqlite:///Album', 4);
    expect(first).toMatchObject({ uri: 'sqlite:///Album/1', name: '1', title: 'birch kestrel 1' });
    const { resources } = await provider.list('sqlite:///', { limit: 100, containersOnly: true }, ctx);
    expect(resources.every(({ capabilities }) => capabilities?.list)).toBe(true);
    expect((await provider.list('sqlite:///Album', { limit: 9, containersOnly: true }, ctx)).resources).toEqual([]);
  });

  it('gives rows as JSON, CSV and Markdown, or only in the accepted format [2093-6, 2093-8]', async () => {
    const said = await provider.metadata('sqlite:///Genre/~rows', ctx);
    const formats = ['application/json', 'text/csv', 'text/markdown'];
    expect(said).toMatchObject({
      mimeType: 'application/json',
      _meta: { [FORMATS_META_KEY]: formats.map((mimeType) => ({ mimeType })) },
    });
    const bodies = await provider.read('sqlite:///Genre/~rows', EVERYTHING, ctx);
    expect(bodies.map(({ resource }) => [resource.uri, resource.mimeType])).toEqual(
      formats.map((mimeType) => ['sqlite:///Genre/~rows', mimeType]),
    );
    for (const [at, format] of formats.entries()) {
      const body = bodies[at];
      expect(body && Buffer.from(await drainBody(body)).toString()).toBe(
        await textOf(provider, 'sqlite:///Genre/~rows', format),
      );
    }
    // A table with an accepted format gives its rows; without one, its children.
    expect(await textOf(provider, 'sqlite:///Genre', 'text/csv')).toBe(
      await textOf(provider, 'sqlite:///Genre/~rows', 'text/csv'),
    );
    const children = await provider.read('sqlite:///Genre', EVERYTHING, ctx);
    expect(children.map(({ resource, child }) => [resource.uri, child])).toEqual([
      ['sqlite:///Genre/~schema', true],
      ['sqlite:///Genre/~rows', true],
    ]);
  });

  it('writes values into CSV and Markdown exactly, without any of them becoming markup', async () => {
    const csv = await textOf(provider, 'sqlite:///Genre/~rows', 'text/csv');
    expect(csv.split('\r\n').slice(0, 2)).toEqual(['Code,Name', '"""q""",juniper amber 9']);
    expect(csv).toContain('\r\n"drum, bass",');
    const track = await textOf(provider, 'sqlite:///Track/12', 'text/markdown');
    expect(track).toContain('| Name | ember juniper 4 \\| "live", at \\*the\\* \\<b\\>hall\\</b\\><br>second line |');
    expect(track).toContain('| AlbumId | [5](../Album/5) |');
    const page = await textOf(provider, 'sqlite:///Track/~rows', 'text/markdown');
    expect(page).toContain('[r\\&b/soul](../Genre/r&b~2Fsoul)');
    expect(page).toContain('[More rows](~after/111)');
  });

  it('describes a table with its columns, keys, links in both directions and indexes, and gives an overview of all tables', async () => {
    expect(await jsonOf(provider, 'sqlite:///Track/~schema')).toMatchObject({
      table: 'Track',
      kind: 'table',
      columns: expect.arrayContaining([{ name: 'TrackId', type: 'INTEGER', nullable: false }]),
      primaryKey: ['TrackId'],
      rows: { uri: '~rows', count: '~count', key: ['TrackId'], template: '../Track/{TrackId}' },
      foreignKeys: [
        { columns: ['AlbumId'], table: 'Album', references: ['AlbumId'], uri: '../Album/~schema' },
        { columns: ['Genre'], table: 'Genre', references: ['Code'], uri: '../Genre/~schema' },
      ],
      referencedBy: expect.arrayContaining([expect.objectContaining({ table: 'PlaylistTrack', columns: ['TrackId'] })]),
      indexes: [{ name: 'TrackByName', columns: ['Name'], unique: false }],
    });
    const markdown = await textOf(provider, 'sqlite:///Track/~schema', 'text/markdown');
    expect(markdown).toContain('- Genre is Code of [Genre](../Genre/~schema)');
    const overview = await jsonOf<{ tables: { table: string; uri: string }[] }>(provider, 'sqlite:///~schema');
    expect(overview.tables).toHaveLength(12);
    for (const { uri } of overview.tables) await provider.metadata(resolved(uri, 'sqlite:///~schema'), ctx);
    expect(await textOf(provider, 'sqlite:///~schema', 'text/markdown')).toContain(
      '| [Album](Album/~schema) | table |',
    );
  });

  it('links each foreign key to a row that can be read', async () => {
    let followed = 0;
    for (const name of ['Track', 'InvoiceLine', 'Employee']) {
      for (const { links = {}, base = '' } of (await pagesOf(provider, `sqlite:///${name}`)).slice(0, 20)) {
        for (const reference of Object.values(links)) {
          await provider.metadata(resolved(reference, base), ctx);
          followed++;
        }
      }
    }
    expect(followed).toBeGreaterThan(60);
  });

  it('gives a single value, bytes and texts unchanged; NULL counts as missing', async () => {
    const expected = recordStore().find(({ name }) => name === 'Album')?.rows[32]?.[3];
    expect((await readLeaf(provider, 'sqlite:///Album/33/Cover')).bytes).toEqual(expected);
    expect((await jsonOf(provider, 'sqlite:///Album/33')).row.Cover).toEqual({ bytes: 1221, uri: '33/Cover' });
    const { bodies, bytes } = await readLeaf(provider, 'sqlite:///Album/33/Title');
    expect([bodies[0]?.resource.mimeType, Buffer.from(bytes).toString()]).toEqual(['text/plain', 'amber delta 33']);
    for (const uri of ['sqlite:///Album/5/Cover', 'sqlite:///Album/5/Nothing', 'sqlite:///Album/999/Cover']) {
      await expect(provider.read(uri, EVERYTHING, ctx), uri).rejects.toMatchObject({ code: 'not-found', uri });
      await expect(provider.metadata(uri, ctx), uri).rejects.toMatchObject({ code: 'not-found', uri });
    }
  });

  it('runs saved queries with bound parameters, as resources and templates [RES-3]', async () => {
    const uri = 'sqlite:///~queries/by-country?country=fr&limit=1';
    expect((await jsonOf<{ rows: unknown[] }>(provider, uri)).rows).toEqual([
      { row: { CustomerId: 4, Name: 'ember juniper 4' } },
    ]);
    expect((await jsonOf<{ rows: unknown[] }>(provider, 'sqlite:///~queries/by-country?country=fr')).rows).toHaveLength(
      3,
    );
    expect(await jsonOf(provider, 'sqlite:///~queries/totals')).toEqual({
      query: 'totals',
      rows: [{ row: { n: 80, 'n:2': 80, 'sum(Total)': 3280 } }],
      more: false,
    });
    expect((await listAll(provider, 'sqlite:///~queries')).map(({ name }) => name)).toEqual(['totals']);
    for (const [wrong, code] of [
      ['sqlite:///~queries/by-country', 'invalid'],
      ['sqlite:///~queries/by-country?country=fr&limit=2', 'invalid'],
      ['sqlite:///~queries/by-country?limit=1', 'invalid'],
      ['sqlite:///~queries/by-country?country=fr&other=1', 'not-found'],
      ['sqlite:///~queries/totals?x=1', 'not-found'],
      ['sqlite:///~queries/nothing', 'not-found'],
      ['sqlite:///Album?country=fr', 'not-found'],
    ] as const) {
      await expect(provider.read(wrong, EVERYTHING, ctx), wrong).rejects.toMatchObject({ code, uri: wrong });
    }
  });

  it('completes keys column by column from the typed text, and parameters from the suggestions [RES-3]', async () => {
    const { resourceTemplates = [] } = (await provider.listTemplates?.({ limit: 100 }, ctx)) ?? {};
    const templates = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
    expect(templates).toContain('sqlite:///InvoiceLine/{InvoiceId,Line}');
    expect(templates).toContain('sqlite:///~queries/by-country{?country,limit}');
    const complete = async (uriTemplate: string, variable: string, value: string, known = {}) =>
      (await provider.complete?.({ uriTemplate, variable, value, known, limit: 5 }, ctx))?.values;
    expect(await complete('sqlite:///Track/{TrackId}', 'TrackId', '1')).toEqual(['12', '15', '18', '102', '105']);
    expect(await complete('sqlite:///Genre/{Code}', 'Code', 'r')).toEqual(['r&b~2Fsoul', 'rock']);
    expect(await complete('sqlite:///Genre/{Code}', 'Code', 'r&b~2')).toEqual(['r&b~2Fsoul']);
    const line = 'sqlite:///InvoiceLine/{InvoiceId,Line}';
    expect(await complete(line, 'InvoiceId', '7')).toEqual(['7', '70', '71', '72', '73']);
    expect(await complete(line, 'Line', '', { InvoiceId: '7' })).toEqual(['1', '2', '3']);
    expect(await complete(line, 'Line', '', { InvoiceId: "7' OR 1=1" })).toEqual([]);
    expect(await complete('sqlite:///Region/{Country,Name}', 'Name', 'south', { Country: 'a~2Cb' })).toEqual([
      'south~2C east',
    ]);
    const query = 'sqlite:///~queries/by-country{?country,limit}';
    expect(await complete(query, 'country', '')).toEqual(['br', 'de', 'fr', 'jp']);
    expect(await complete(query, 'limit', '1')).toEqual(['1', '100']);
  });

  it('gives at most `maxBytes`: a page has fewer rows then, and links to the rest', async () => {
    for (const maxBytes of [1_000, 2_000, 5_000]) {
      const [body] = await provider.read(
        'sqlite:///Track/~rows',
        { maxBytes, maxChildren: 1, accept: ['application/json'] },
        ctx,
      );
      const bytes = body && (await drainBody(body));
      expect(bytes?.byteLength).toBeLessThanOrEqual(maxBytes);
      const page = JSON.parse(Buffer.from(bytes ?? []).toString()) as { rows: { uri: string }[]; next: string };
      expect(page.next).toBe(`~after/${page.rows.at(-1)?.uri}`);
    }
    await expect(provider.read('sqlite:///Track/~rows', { maxBytes: 100, maxChildren: 1 }, ctx)).rejects.toMatchObject({
      code: 'too-large',
    });
    await expect(
      provider.read('sqlite:///Album/33/Cover', { maxBytes: 1_220, maxChildren: 1 }, ctx),
    ).rejects.toMatchObject({ code: 'too-large' });
  });
});

describe('pages under change', () => {
  it('lose and repeat no row while rows are added and removed before, after and at the end of a page', async () => {
    for (const [name, key] of [
      ['Track', 'TrackId'],
      ['InvoiceLine', 'InvoiceId'],
    ] as const) {
      const before = (await pagesOf(provider, `sqlite:///${name}`)).map(({ uri }) => uri ?? '');
      let removed = 0;
      const shown = await pagesOf(provider, `sqlite:///${name}`, (rows) => {
        const last = rows.at(-1)?.row[key];
        // Deletes the row that the next page follows and one after it, and adds rows on both sides.
        writer.prepare(`DELETE FROM ${name} WHERE ${key} = ?`).run(last as number);
        writer.prepare(`DELETE FROM ${name} WHERE ${key} = ?`).run((last as number) + 30);
        removed++;
        const values = name === 'Track' ? '(?, NULL, NULL, NULL, NULL, NULL)' : '(?, 0, NULL, NULL)';
        for (const id of [-removed, 100_000 + removed]) writer.prepare(`INSERT INTO ${name} VALUES ${values}`).run(id);
      });
      const uris = shown.map(({ uri }) => uri ?? '');
      const after = new Set((await pagesOf(provider, `sqlite:///${name}`)).map(({ uri }) => uri));
      expect(removed).toBeGreaterThan(3);
      expect(new Set(uris).size, 'No row came twice').toBe(uris.length);
      const stayed = before.filter((uri) => after.has(uri));
      expect(
        stayed.filter((uri) => !uris.includes(uri)),
        'No row was lost',
      ).toEqual([]);
    }
  });
});
