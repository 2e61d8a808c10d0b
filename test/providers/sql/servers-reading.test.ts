/** Every database server serves the rows of its tables, page by page and by their keys, with their exact values. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ResourceProvider } from '../../../src/core/provider.ts';
import { treeUri } from '../../../src/core/uri.ts';
import { type SqlOptions, sqlProvider } from '../../../src/providers/sql/index.ts';
import { connectHttp, connectStdio, type Era, startHttp } from '../../e2e/harness.ts';
import type { DatabaseServer } from '../../services/database.ts';
import { describeWith } from '../../services/service.ts';
import { readSample, type SampleTable } from './record-shop.ts';
import { fillSample, makeDatabase, SERVERS, type ServerKind, type Writer } from './servers.ts';
import { ctx, firstName, type RowJson, readJson, refusal } from './shop.ts';

for (const kind of SERVERS) {
  const { scheme, quote, service } = kind;

  describeWith([service])(service.name, () => {
    let server: DatabaseServer;
    let shop: Writer;
    const schema = kind.schemaOf('shop');
    const uri = (...path: string[]): string => treeUri(scheme, [schema, ...path]);
    const open = (options: Partial<SqlOptions> = {}): Promise<ResourceProvider> =>
      sqlProvider({ sql: server.url('shop'), ...options });

    beforeAll(async () => {
      server = await kind.start();
      shop = await makeDatabase(kind, server, 'shop');
      await fillSample(kind, shop);
    });
    afterAll(async () => {
      await shop[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });

    it('gives every table of the sample page by page, with nothing lost or repeated while rows come and go [RES-5]', async () => {
      const provider = await open({ pageRows: 1_000 });
      try {
        for (const table of readSample()) {
          const got: unknown[] = [];
          let next: string | undefined = uri(table.name, '~rows');
          while (next !== undefined) {
            const page = (await readJson(provider, next)) as { rows: RowJson[]; next?: string };
            got.push(...page.rows.map(({ row }) => row));
            next = page.next === undefined ? undefined : new URL(page.next, next).href;
            // Adds rows before and after the start of the next page again: none of them is counted as a row of the sample.
            if (table.name === 'PlaylistTrack') await disturb(shop, quote, table);
          }
          expect(got.filter((row) => !isDisturbance(row))).toEqual(sorted(table).map((row) => rowOf(table, row)));
        }
      } finally {
        await provider.close?.();
      }
    });

    it('gives rows by their keys, also those of two columns [RES-1]', async () => {
      const provider = await open();
      try {
        for (const table of readSample()) {
          const step = Math.max(1, Math.floor(table.rows.length / 40));
          const some = table.rows.filter((_, i) => i % step === 0);
          const read = await Promise.all(
            some.map((row) => {
              const key = table.primaryKey.map(
                (name) => row[table.columns.findIndex((column) => column.name === name)],
              );
              return readJson(provider, uri(table.name, key.join(','))) as Promise<RowJson>;
            }),
          );
          expect(read.map(({ row }) => row)).toEqual(some.map((row) => rowOf(table, row)));
        }
        const gone = await refusal(readJson(provider, uri('Artist', '100000')));
        expect(gone).toMatchObject({ code: 'not-found', uri: uri('Artist', '100000') });
      } finally {
        await provider.close?.();
      }
    });

    it('shows values exactly, and reads rows by keys with such values', async () => {
      await using writer = await makeDatabase(kind, server, 'types');
      await writer.run(TYPES[scheme].sql);
      const provider = await sqlProvider({ sql: server.url('types') });
      try {
        const table = treeUri(scheme, [kind.schemaOf('types'), 'odd "name".`x`']);
        const { resources } = await provider.list(table, { limit: 10 }, ctx);
        const [row] = resources.filter(({ uri: each }) => !/\/~(?:schema|rows|count)$/.test(each));
        expect(((await readJson(provider, row?.uri ?? '')) as RowJson).row).toEqual(TYPES[scheme].row);
      } finally {
        await provider.close?.();
      }
    });

    it.each(['legacy', 'modern'] as const)('serves the typed URL to a client of the %s era', async (era: Era) => {
      await using http = era === 'modern' ? await startHttp([server.url('shop')]) : undefined;
      const connected =
        http === undefined ? await connectStdio(era, [server.url('shop')]) : await connectHttp(era, http);
      try {
        const { contents } = await connected.request<{ contents: { text: string }[] }>('resources/read', {
          uri: uri('Artist', '1'),
        });
        expect(contents.map(({ text }) => text).join()).toContain(JSON.stringify(firstName('Artist')).slice(1, -1));
        const { resources } = await connected.request<{ resources: { uri: string }[] }>('resources/list');
        expect(resources.map(({ uri: each }) => each)).toContain(uri('Album'));
        expect(connected.stderr()).not.toContain('glass');
      } finally {
        await connected.close();
      }
    });
  });
}

/** A row of the sample as JSON shows it: decimals, which are numbers in the sample, become digits. */
function rowOf({ columns }: SampleTable, row: SampleTable['rows'][number]): Record<string, unknown> {
  return Object.fromEntries(
    columns.map(({ name, type }, i) => {
      const value = row[i] ?? null;
      return [name, type.startsWith('NUMERIC') && typeof value === 'number' ? value.toFixed(2) : value];
    }),
  );
}

function sorted({ columns, primaryKey, rows }: SampleTable): SampleTable['rows'] {
  const at = primaryKey.map((name) => columns.findIndex((column) => column.name === name));
  return [...rows].sort((a, b) => at.map((i) => Number(a[i]) - Number(b[i])).find((order) => order !== 0) ?? 0);
}

/** The playlists and tracks of two rows that the sample does not have: one before all of its rows, one after them. */
const OTHERS = [
  [0, 1],
  [999, 1],
] as const;

/** Removes the two rows if they are there, and adds them. */
async function disturb(shop: Writer, quote: (name: string) => string, { name, columns }: SampleTable): Promise<void> {
  const [list, track] = columns.map((column) => quote(column.name));
  for (const [playlist, number] of OTHERS) {
    await shop.run(
      `DELETE FROM ${quote(name)} WHERE ${list} = ${playlist}; DELETE FROM ${quote('Playlist')} WHERE ${list} = ${playlist};
       INSERT INTO ${quote('Playlist')} VALUES (${playlist}, 'passing');
       INSERT INTO ${quote(name)} (${list}, ${track}) VALUES (${playlist}, ${number})`,
    );
  }
}

const isDisturbance = (row: unknown): boolean => {
  const { PlaylistId } = row as { readonly PlaylistId?: unknown };
  return OTHERS.some(([playlist]) => playlist === PlaylistId);
};

/** Makes a table with an odd name and a row with a value of each type, and says how the row reads. */
const TYPES: Readonly<Record<ServerKind['scheme'], { readonly sql: string; readonly row: Record<string, unknown> }>> = {
  postgres: {
    sql: `
      CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN price AS numeric(10,2);
      CREATE TABLE "odd ""name"".\`x\`" (
        "Größe.1" bigint, u uuid, at timestamptz, PRIMARY KEY ("Größe.1", u, at),
        big numeric, money price, texts text[], numbers int8[][], m mood, moods mood[], j json, jb jsonb, plain timestamp,
        d date, bytes bytea, f float8, f4 float4, i interval, b boolean, nothing text);
      INSERT INTO "odd ""name"".\`x\`" VALUES (
        9007199254740993, '00000000-0000-0000-0000-00000000000a', '2024-02-03 04:05:06.789+02',
        12345678901234567890.10, 5, '{a,"b,c",NULL,"x\\"y"}', '{{1,2},{3,4}}', 'ok', '{ok,sad}', '{"a": 1.0}', '{"b": [1]}',
        '2024-02-03 04:05:06', '2024-02-03', '\\x00ff', 'NaN', 1.1, '1 year 2 days 03:00:00.5', true, NULL)`,
    row: {
      'Größe.1': '9007199254740993',
      u: '00000000-0000-0000-0000-00000000000a',
      at: '2024-02-03T02:05:06.789Z',
      big: '12345678901234567890.10',
      money: '5.00',
      texts: ['a', 'b,c', null, 'x"y'],
      numbers: [
        [1, 2],
        [3, 4],
      ],
      m: 'ok',
      moods: ['ok', 'sad'],
      j: { a: 1 },
      jb: { b: [1] },
      plain: '2024-02-03T04:05:06',
      d: '2024-02-03',
      bytes: { bytes: 2, base64: 'AP8=' },
      f: 'NaN',
      f4: 1.1,
      i: 'P1Y2DT3H0.5S',
      b: true,
      nothing: null,
    },
  },
  mysql: {
    sql: `
      SET time_zone = '+02:00';
      CREATE TABLE \`odd "name".\`\`x\`\`\` (
        \`Größe.1\` bigint unsigned, u binary(2), at timestamp(3), PRIMARY KEY (\`Größe.1\`, u, at),
        big decimal(30,2), j json, plain datetime, d date, t time, y year, bytes varbinary(10), f double, f4 float,
        bits bit(10), e enum('a','b'), s set('x','y'), b boolean, nothing text, emoji text);
      INSERT INTO \`odd "name".\`\`x\`\`\` VALUES (
        18446744073709551615, x'00ff', '2024-02-03 04:05:06.789', 12345678901234567890.10, '{"a": 1.0}',
        '2024-02-03 04:05:06', '2024-02-03', '-123:00:00', 1999, x'00ff', 1e300, 1.1, b'1010', 'a', 'x,y', true, NULL, '😀')`,
    row: {
      'Größe.1': '18446744073709551615',
      u: { bytes: 2, base64: 'AP8=' },
      at: '2024-02-03T02:05:06.789Z',
      big: '12345678901234567890.10',
      j: { a: 1 },
      plain: '2024-02-03T04:05:06',
      d: '2024-02-03',
      t: '-123:00:00',
      y: 1999,
      bytes: { bytes: 2, base64: 'AP8=' },
      f: 1e300,
      f4: 1.1,
      bits: 10,
      e: 'a',
      s: 'x,y',
      b: 1,
      nothing: null,
      emoji: '😀',
    },
  },
};
