/** Every database server has to pass this: the tests run on real ones. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chunksOf } from '../../../src/core/body.ts';
import { createContext } from '../../../src/core/context.ts';
import type { ResourceError } from '../../../src/core/errors.ts';
import type { ResourceProvider } from '../../../src/core/provider.ts';
import { treeUri } from '../../../src/core/uri.ts';
import { type SqlOptions, sqlProvider } from '../../../src/providers/sql/index.ts';
import { connectHttp, connectStdio, type Era, startHttp } from '../../e2e/harness.ts';
import { until, within } from '../../e2e/waiting.ts';
import type { DatabaseServer } from '../../services/database.ts';
import { describeWith } from '../../services/service.ts';
import { readSample, type SampleTable } from './record-shop.ts';
import { fillSample, makeDatabase, SERVERS, type ServerKind, type Writer } from './servers.ts';

const ctx = createContext();
const WANT = { maxBytes: 16_000_000, maxChildren: 100, accept: ['application/json'] };

async function readJson(provider: ResourceProvider, uri: string, context = ctx): Promise<unknown> {
  const [body] = await provider.read(uri, WANT, context);
  if (body === undefined) throw new Error(`nothing at ${uri}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(body.content)) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

interface RowJson {
  readonly row: Readonly<Record<string, unknown>>;
}

const refusal = async (work: Promise<unknown>): Promise<ResourceError> =>
  await work.then(
    (value) => {
      throw new Error(`was not refused: ${JSON.stringify(value)}`);
    },
    (error: ResourceError) => error,
  );

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
            // Adds rows below and above the start of the next page, and removes them, so that the sample stays the same.
            if (table.name === 'PlaylistTrack') await disturb(shop, quote, table);
          }
          expect(got.filter((row) => !isDisturbance(row))).toEqual(sorted(table).map((row) => rowOf(table, row)));
        }
      } finally {
        await provider.close?.();
      }
    });

    it('gives rows by their keys, composite ones too [RES-1]', async () => {
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

    it('never writes, whatever a saved query says, and quotes no statement in errors [SEC-RES-5]', async () => {
      const statements = WRITES[scheme];
      const queries = Object.fromEntries(statements.map((sql, i) => [`q${i}`, { sql }]));
      const provider = await open({ queries });
      try {
        for (const [i, sql] of statements.entries()) {
          const error = await refusal(readJson(provider, treeUri(scheme, ['~queries', `q${i}`])));
          expect([sql, error.code]).toEqual([sql, expect.stringMatching(/^(?:denied|internal|not-found|invalid)$/)]);
          expect(error.message).not.toMatch(/Artist|syntax|127\.0\.0\.1|curator/i);
        }
        expect(await shop.rows(`SELECT count(*) AS n FROM ${quote('Artist')}`)).toEqual([{ n: expect.anything() }]);
        const [{ n } = { n: 0 }] = await shop.rows(`SELECT count(*) AS n FROM ${quote('Artist')}`);
        expect(Number(n)).toBe(275);
      } finally {
        await provider.close?.();
      }
    });

    it('stops a statement in the database if it takes too long or its caller leaves [RES-7]', async () => {
      const provider = await open({ queries: { slow: { sql: kind.sleep(60) } }, statementTimeoutSeconds: 0.3 });
      const patient = await open({ queries: { slow: { sql: kind.sleep(60) } }, statementTimeoutSeconds: 60 });
      try {
        const slow = treeUri(scheme, ['~queries', 'slow']);
        expect(await refusal(readJson(provider, slow))).toMatchObject({ code: 'timeout', retryable: true });
        const leaving = new AbortController();
        const left = refusal(readJson(patient, slow, createContext({ signal: leaving.signal })));
        await waitFor(shop, RUNNING[scheme], 1);
        leaving.abort(new Error('left'));
        expect(await within(left, 'the reading to end')).toMatchObject({ message: 'left' });
        await waitFor(shop, RUNNING[scheme], 0);
      } finally {
        await provider.close?.();
        await patient.close?.();
      }
    });

    it('limits rows and bytes of results', async () => {
      const queries = { all: { sql: `SELECT * FROM ${quote('Track')}` } };
      const provider = await open({ queries, maxRows: 7 });
      try {
        const result = (await readJson(provider, treeUri(scheme, ['~queries', 'all']))) as { rows: unknown[] };
        expect(result.rows).toHaveLength(7);
        // The limit does not apply to the next statement on the same connection.
        expect(await readJson(provider, uri('Artist', '~count'))).toMatchObject({ rows: 275 });
        const page = (await readJson(provider, uri('Artist', '~rows'))) as { rows: unknown[] };
        expect(page.rows).toHaveLength(100);
      } finally {
        await provider.close?.();
      }
    });

    it.each(['-- limit 10', '# limit 10', '/* all of them */ -- limit 10', 'WHERE 1 = 1 -- without\n-- limit 10'])(
      'does not take a comment at the end of a query for its LIMIT: %s',
      async (comment) => {
        if (comment.startsWith('#') && scheme === 'postgres') return;
        const queries = {
          few: { sql: `SELECT * FROM ${quote('Track')}`, maxRows: 2 },
          more: { sql: `SELECT * FROM ${quote('Track')}`, maxRows: 7 },
          commented: { sql: `SELECT * FROM ${quote('Track')} ${comment}`, maxRows: 7 },
        };
        const provider = await open({ queries, connections: 1, watch: false });
        try {
          const result = async (name: string) => {
            const { rows, more } = (await readJson(provider, treeUri(scheme, ['~queries', name]))) as {
              readonly rows: readonly unknown[];
              readonly more?: boolean;
            };
            return { rows, more };
          };
          const whole = await result('more');
          expect(whole.rows).toHaveLength(7);
          await result('few');
          expect(await result('commented')).toEqual(whole);
        } finally {
          await provider.close?.();
        }
      },
    );

    const firstName = (table: string) => readSample().find(({ name }) => name === table)?.rows[0]?.[1];

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

    it('refuses to start with a wrong password or database, and shows neither in the error', async () => {
      for (const sql of [server.url('shop').replace('case@', 'house@'), server.url('nothing')]) {
        const error = await refusal(sqlProvider({ sql }));
        expect(error.code).toBe('invalid');
        expect(error.message).not.toMatch(/glass|house|curator|127\.0\.0\.1/);
      }
    });

    // This test comes last, because it restarts the server of the other tests.
    it('answers `unavailable` while the server is down, and reads and reports changes again when it is back', async () => {
      const watch =
        scheme === 'postgres'
          ? { channel: 'Changed "it"' }
          : { query: `SELECT * FROM ${quote('Genre')}`, pollSeconds: 0.1 };
      const provider = await open({ watch });
      try {
        let told = (): void => {};
        await provider.watch?.(uri('Genre', '1'), () => told(), ctx);
        await readJson(provider, uri('Genre', '1'));
        await shop[Symbol.asyncDispose]();
        await server.stop();
        const down = await refusal(readJson(provider, uri('Genre', '1')));
        expect(down).toMatchObject({ code: 'unavailable', retryable: true });
        expect(down.message).not.toContain('127.0.0.1');
        const change = new Promise<void>((resolve) => {
          told = resolve;
        });
        await server.start();
        shop = await kind.connect(server.url('shop'));
        expect(((await readJson(provider, uri('Genre', '1'))) as RowJson).row).toMatchObject({
          Name: firstName('Genre'),
        });
        await shop.run(`UPDATE ${quote('Genre')} SET ${quote('Name')} = 'Stone' WHERE ${quote('GenreId')} = 1`);
        if (scheme === 'postgres') await shop.run('NOTIFY "Changed ""it""", \'Genre\'');
        await within(change, 'the change to be told');
        expect(((await readJson(provider, uri('Genre', '1'))) as RowJson).row).toMatchObject({ Name: 'Stone' });
      } finally {
        await provider.close?.();
      }
    });
  });
}

/** A row of the sample as JSON shows it: decimals in digits, which the sample has as numbers. */
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

/** A row that the sample does not have. */
const OTHERS = [
  [0, 1],
  [999, 1],
] as const;

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

/** Asks until a count is what it should be. */
async function waitFor(writer: Writer, sql: string, count: number): Promise<void> {
  await until(async () => {
    const [{ n } = { n: -1 }] = await writer.rows(sql);
    return Number(n) === count;
  }, `${count} running statements`);
}

/** How many of the slow statements run. */
const RUNNING: Readonly<Record<ServerKind['scheme'], string>> = {
  postgres: `SELECT count(*) AS n FROM pg_stat_activity
             WHERE state = 'active' AND pid <> pg_backend_pid() AND application_name = 'vitrine'`,
  mysql: `SELECT count(*) AS n FROM information_schema.processlist WHERE state = 'User sleep'`,
};

/** Statements that no saved query may run. */
const WRITES: Readonly<Record<ServerKind['scheme'], readonly string[]>> = {
  postgres: [
    `INSERT INTO "Artist" VALUES (1000, 'x')`,
    `WITH gone AS (DELETE FROM "PlaylistTrack" RETURNING *) SELECT * FROM gone`,
    `SELECT 1; DELETE FROM "PlaylistTrack"`,
    `COPY "Artist" TO STDOUT`,
    `COPY (SELECT 1) TO PROGRAM 'true'`,
    `SELECT * INTO stolen FROM "Artist"`,
    `CREATE TABLE stolen AS SELECT 1`,
    'COMMIT',
    'SET TRANSACTION READ WRITE',
    `SELECT set_config('transaction_read_only', 'off', false)`,
    `DO $$ BEGIN DELETE FROM "PlaylistTrack"; END $$`,
    `SELECT * FROM "Artist" FOR UPDATE`,
    `EXPLAIN ANALYZE DELETE FROM "PlaylistTrack"`,
    `SELECT 1) FROM x; DELETE FROM "PlaylistTrack"; --`,
  ],
  mysql: [
    "INSERT INTO Artist VALUES (1000, 'x')",
    'DELETE FROM PlaylistTrack RETURNING *',
    'SELECT 1; DELETE FROM PlaylistTrack',
    "SELECT 1 INTO OUTFILE '/tmp/vitrine-must-not-be'",
    "SELECT 1 /*! INTO OUTFILE '/tmp/vitrine-must-not-be' */",
    'SELECT 1 INTO @stolen',
    'CREATE TABLE stolen AS SELECT 1',
    'COMMIT',
    'SET SESSION transaction_read_only = 0',
    'SELECT * FROM Artist FOR UPDATE',
    'CALL nothing()',
    "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE Artist",
    'SELECT 1) AS x; DELETE FROM PlaylistTrack; -- ',
  ],
};

/** A table with an odd name and a row of each type, and how it reads. */
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
