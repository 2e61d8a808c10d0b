/** SQLite files that are being written, damaged, replaced, or slow, and tables with unusual keys and columns. */
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlKind } from '../../../src/config/kinds/sql.ts';
import { createContext } from '../../../src/core/context.ts';
import type { ResourceProvider } from '../../../src/core/provider.ts';
import { SERVER } from '../../../src/core/waiting/fair-queue.ts';
import type { Statement } from '../../../src/providers/sql/dialect.ts';
import { type SqlOptions, sqlProvider } from '../../../src/providers/sql/index.ts';
import { connectionQueue } from '../../../src/providers/sql/queue.ts';
import { LIBRARY } from '../../../src/providers/sql/sqlite/index.ts';
import { createProcesses } from '../../../src/providers/sql/sqlite/processes.ts';
import { EVERYTHING, listAll, thrownBy } from '../../../src/testing/observe.ts';
import { within } from '../../e2e/waiting.ts';
import { jsonOf, pagesOf, textOf } from './reading.ts';

const ctx = createContext();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-faults-'));
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

function make(name: string, sql: string): InstanceType<typeof DatabaseSync> {
  const database = new DatabaseSync(join(folder, name));
  database.exec(sql);
  return database;
}

async function served<T>(
  options: Partial<SqlOptions> & { sql: string },
  work: (provider: ResourceProvider) => Promise<T>,
): Promise<T> {
  const provider = await sqlProvider({ base: folder, watch: false, ...options });
  try {
    return await work(provider);
  } finally {
    await provider.close?.();
  }
}

describe('a SQLite file', () => {
  it('is recognised by its first bytes, whatever its name is; URLs are recognised by their scheme', async () => {
    make('kind.bin', 'CREATE TABLE a (b)').close();
    await writeFile(join(folder, 'not.sqlite'), 'SQLite format 4 and so on');
    const recognised = async (source: string): Promise<unknown> => await sqlKind.recognises?.(source, folder);
    for (const source of [
      'kind.bin',
      './kind.bin',
      join(folder, 'kind.bin'),
      'sqlite:kind.bin',
      'sqlite:///x',
      'postgres://h/d',
      'postgresql://h/d',
      'mysql://h/d',
      'mariadb://h/d',
    ])
      expect(await recognised(source), source).toBe(true);
    for (const source of ['not.sqlite', 'nothing.db', '.', 'http://h/d', 'file:///x', 'postgres:h'])
      expect(await recognised(source), source).toBe(false);
    expect(
      ['./shop.sqlite', '/a/b.db', 'sqlite:///a/c.sqlite3', 'postgres://u:p@h:1/orders', 'mysql://h'].map((each) =>
        sqlKind.nameOf?.(each),
      ),
    ).toEqual(['shop', 'b', 'c', 'orders', 'h']);
    await served({ sql: 'sqlite:kind.bin' }, async (provider) => {
      expect((await listAll(provider, 'sqlite:///')).map(({ name }) => name)).toEqual(['~schema', 'a']);
    });
  });

  it('is refused if it is missing or not a database; errors of a damaged table do not contain its path', async () => {
    await writeFile(join(folder, 'text.db'), 'x'.repeat(5_000));
    for (const sql of ['text.db', 'nothing.db', '.', 'sqlite://host/x', 'sqlite:x?mode=rw', 'sqlite:'])
      expect(await thrownBy(() => served({ sql }, async () => {})), sql).toMatchObject({ code: 'invalid' });

    const whole = make('whole.db', 'PRAGMA page_size = 512; CREATE TABLE a (id INTEGER PRIMARY KEY, b TEXT)');
    whole.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
      INSERT INTO a SELECT i, hex(zeroblob(100)) FROM n`);
    whole.close();
    const bytes = await readFile(join(folder, 'whole.db'));
    await writeFile(join(folder, 'cut.db'), bytes.fill(0xff, 20_480, 25_600));
    await served({ sql: 'cut.db' }, async (provider) => {
      const error = await thrownBy(() => pagesOf(provider, 'sqlite:///a'));
      expect(error).toMatchObject({ name: 'ResourceError' });
      expect(String(error)).not.toContain(folder);
      // Everything else can still be read.
      expect(await jsonOf(provider, 'sqlite:///a/~schema')).toMatchObject({ table: 'a' });
    });
  });

  it('with a write-ahead log is read while somebody writes, without the changes of an open transaction', async () => {
    const writer = make('wal.db', 'PRAGMA journal_mode = WAL; CREATE TABLE a (id INTEGER PRIMARY KEY, b)');
    await served({ sql: 'wal.db' }, async (provider) => {
      const count = async () => (await jsonOf<{ rows: number }>(provider, 'sqlite:///a/~count')).rows;
      for (let round = 1; round <= 3; round++) {
        writer.exec('BEGIN IMMEDIATE; INSERT INTO a (b) VALUES (1), (2), (3)');
        expect(await count()).toBe((round - 1) * 3);
        writer.exec('COMMIT');
        expect(await count()).toBe(round * 3);
      }
      writer.exec('CREATE TABLE later (x)');
      expect((await listAll(provider, 'sqlite:///')).map(({ name }) => name)).toContain('later');
      writer.exec('ALTER TABLE a ADD COLUMN c DEFAULT 7');
      expect((await jsonOf(provider, 'sqlite:///a/1')).row).toEqual({ id: 1, b: 1, c: 7 });
    });
    writer.close();
  });

  it('is opened again if another file has replaced it', async () => {
    make('old.db', 'CREATE TABLE before (a)').close();
    make('new.db', 'CREATE TABLE after (a)').close();
    await served({ sql: 'old.db' }, async (provider) => {
      await provider.metadata('sqlite:///before', ctx);
      await rename(join(folder, 'new.db'), join(folder, 'old.db'));
      await provider.metadata('sqlite:///after', ctx);
      await expect(provider.metadata('sqlite:///before', ctx)).rejects.toMatchObject({ code: 'not-found' });
    });
  });

  it('is never written to, and no saved query reaches another file', async () => {
    make('safe.db', 'CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1)').close();
    const statements = [
      'DELETE FROM a',
      'INSERT INTO a VALUES (2) RETURNING id',
      `ATTACH '${join(folder, 'made.db')}' AS made`,
      'PRAGMA query_only = OFF',
      'PRAGMA journal_mode = DELETE',
      'VACUUM',
      "SELECT load_extension('x')",
      'CREATE TEMP TABLE t (a)',
      'BEGIN',
    ];
    const queries = Object.fromEntries(statements.map((sql, at) => [`q${at}`, { sql }]));
    await served({ sql: 'safe.db', queries }, async (provider) => {
      for (const [at, sql] of statements.entries()) {
        const error = await thrownBy(() => provider.read(`sqlite:///~queries/q${at}`, EVERYTHING, ctx));
        expect(error, sql).toMatchObject({ code: expect.stringMatching(/^(denied|internal)$/) });
      }
      expect((await jsonOf<{ rows: number }>(provider, 'sqlite:///a/~count')).rows).toBe(1);
    });
  });

  it('answers the next statement after one that took too long or whose caller left [RES-7]', async () => {
    make('slow.db', 'CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1)').close();
    const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n';
    const options = {
      sql: 'slow.db',
      connections: 1,
      statementTimeoutSeconds: 1,
      queries: { endless: { sql: endless } },
    };
    await served(options, async (provider) => {
      await expect(provider.read('sqlite:///~queries/endless', EVERYTHING, ctx)).rejects.toMatchObject({
        code: 'timeout',
        retryable: true,
      });
      await provider.metadata('sqlite:///a/1', ctx);
    });
    await served({ ...options, statementTimeoutSeconds: 3_600 }, async (provider) => {
      const caller = new AbortController();
      const reason = new Error('The caller is gone');
      const reading = thrownBy(() =>
        provider.read('sqlite:///~queries/endless', EVERYTHING, createContext({ signal: caller.signal })),
      );
      await provider.listTemplates?.({ limit: 1 }, createContext({ signal: AbortSignal.timeout(50) })).catch(() => {});
      caller.abort(reason);
      expect(await within(reading, 'the end of a read that nobody wants')).toBe(reason);
      await within(provider.metadata('sqlite:///a/1', ctx), 'an answer after it');
    });
  });

  it('gives a result of several parts in order and up to each limit, and no rows of a statement that failed', async () => {
    make('parts.sqlite', 'CREATE TABLE a (b)').close();
    const numbers = (each: string): Statement => ({
      sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7000) SELECT ${each} FROM n`,
      parameters: [],
    });
    const upTo = (length: number): readonly bigint[] => Array.from({ length }, (_, at) => BigInt(at + 1));
    const processes = createProcesses({
      library: createRequire(import.meta.url).resolve(LIBRARY),
      file: join(folder, 'parts.sqlite'),
      queue: connectionQueue(1, 10),
    });
    const run = async (statement: Statement, limits: { maxRows?: number; maxBytes?: number } = {}) => {
      const enough = { maxRows: 10_000, maxBytes: 10_000_000, maxValueBytes: 2_000, timeoutMs: 10_000 };
      const { rows, stoppedBy } = await processes.run(statement, {
        ...enough,
        ...limits,
        signal: ctx.signal,
        caller: SERVER,
      });
      return { numbers: rows.map(([first]) => first), stoppedBy };
    };
    try {
      expect(await run(numbers('i'))).toEqual({ numbers: upTo(7_000), stoppedBy: undefined });
      // The smallest integer has no absolute value.
      const failing = numbers('abs(CASE WHEN i < 5000 THEN i ELSE -9223372036854775807 - 1 END)');
      await expect(run(failing)).rejects.toMatchObject({ name: 'ResourceError' });
      expect(await run(numbers('i'), { maxRows: 4_000 })).toEqual({ numbers: upTo(4_000), stoppedBy: 'rows' });
      const long = numbers("i, printf('%.*c', 992, 'x')");
      expect(await run(long, { maxBytes: 1_000_000 })).toEqual({ numbers: upTo(1_000), stoppedBy: 'bytes' });
    } finally {
      await processes.close();
    }
  });

  it('serves no rows of a table with more columns than a result can have, but each of their values', async () => {
    const columns = Array.from({ length: 1_500 }, (_, at) => `c${at}`);
    make(
      'wide.sqlite',
      `CREATE TABLE wide (id INTEGER PRIMARY KEY, ${columns.join(', ')}); INSERT INTO wide (c7) VALUES ('x')`,
    ).close();
    await served({ sql: 'wide.sqlite' }, async (provider) => {
      const below = await provider.read('sqlite:///wide', EVERYTHING, ctx);
      expect(below.map(({ resource }) => resource.uri)).toEqual(['sqlite:///wide/~schema']);
      for (const rows of ['sqlite:///wide/1', 'sqlite:///wide/~rows'])
        await expect(provider.read(rows, EVERYTHING, ctx), rows).rejects.toMatchObject({ code: 'too-large' });
      expect(await textOf(provider, 'sqlite:///wide/1/c7', 'text/plain')).toBe('x');
    });
  });

  it('has one URI for each row, whatever the kind of its key, even with NULL in the key', async () => {
    const keys = make(
      'keys.db',
      `CREATE TABLE loose (k PRIMARY KEY, v);
       INSERT INTO loose VALUES (1, 'i'), ('1', 't'), (1.5, 'r'), ('1.5', 's'), (x'31', 'b'), (NULL, 'n'), (NULL, 'm'), ('', 'e');
       CREATE TABLE pair (a TEXT, b INTEGER, v, PRIMARY KEY (a, b));
       INSERT INTO pair VALUES ('x', NULL, 1), ('x', NULL, 2), ('x', 1, 3), (NULL, 1, 4), (NULL, NULL, 5), ('y,z', 1, 6);
       CREATE TABLE compact (a TEXT, b BLOB, PRIMARY KEY (a, b)) WITHOUT ROWID; INSERT INTO compact VALUES ('q', x'00ff');
       CREATE TABLE keyless (v); INSERT INTO keyless VALUES ('p'), ('q'), ('p');
       CREATE TABLE unhappy (rowid, oid, _rowid_); INSERT INTO unhappy VALUES (1, 2, 3);
       CREATE TABLE uniquely (u TEXT NOT NULL UNIQUE, v); INSERT INTO uniquely VALUES ('one', 1);
       CREATE TABLE big (id INTEGER PRIMARY KEY, n); INSERT INTO big VALUES (9223372036854775807, -9223372036854775808), (-9223372036854775808, 9007199254740993);
       CREATE TABLE "__proto__" ("constructor" TEXT PRIMARY KEY, "2", "1", "__proto__"); INSERT INTO "__proto__" VALUES ('toString', 'two', 'one', 'p');
       CREATE VIEW broken AS SELECT * FROM gone;
       CREATE VIEW twice AS SELECT 1 AS a, 2 AS b`,
    );
    await served({ sql: 'keys.db', pageRows: 2 }, async (provider) => {
      const rowsOf = async (table: string) => {
        const rows = await pagesOf(provider, `sqlite:///${table}`);
        for (const { uri = '', row } of rows) expect((await jsonOf(provider, uri)).row, uri).toEqual(row);
        const listed = (await listAll(provider, `sqlite:///${table}`, 2)).map(({ uri }) => uri).slice(3);
        expect(listed, table).toEqual(rows.map(({ uri }) => uri));
        expect(new Set(listed).size).toBe(listed.length);
        return rows.map(({ uri = '', row }) => [uri.slice(`sqlite:///${table}/`.length), row.v]);
      };
      expect(await rowsOf('loose')).toEqual([
        ['~n,6', 'n'],
        ['~n,7', 'm'],
        ['~i:1', 'i'],
        ['~r:1.5', 'r'],
        ['~t:', 'e'],
        ['1', 't'],
        ['1.5', 's'],
        ['~b:31', 'b'],
      ]);
      expect(await rowsOf('pair')).toEqual([
        ['~n,~n,5', 5],
        ['~n,1,4', 4],
        ['x,~n,1', 1],
        ['x,~n,2', 2],
        ['x,1', 3],
        ['y~2Cz,1', 6],
      ]);
      expect(await rowsOf('compact')).toEqual([['q,~b:00ff', undefined]]);
      expect(await rowsOf('keyless')).toEqual([
        ['1', 'p'],
        ['2', 'q'],
        ['3', 'p'],
      ]);
      expect(await rowsOf('uniquely')).toEqual([['one', 1]]);
      expect(await rowsOf('big')).toHaveLength(2);
      expect((await jsonOf(provider, 'sqlite:///big/9223372036854775807')).row).toEqual({
        id: '9223372036854775807',
        n: '-9223372036854775808',
      });
      expect(await textOf(provider, 'sqlite:///__proto__/toString')).toContain(
        '"constructor": "toString",\n    "2": "two",\n    "1": "one",\n    "__proto__": "p"',
      );
      expect((await jsonOf<{ rows: unknown }>(provider, 'sqlite:///unhappy/~rows')).rows).toEqual([
        { row: { rowid: 1, oid: 2, _rowid_: 3 } },
      ]);
      expect((await jsonOf<{ rows: unknown }>(provider, 'sqlite:///twice/~rows')).rows).toEqual([
        { row: { a: 1, b: 2 } },
      ]);
      await expect(provider.read('sqlite:///broken/~rows', EVERYTHING, ctx)).rejects.toMatchObject({
        name: 'ResourceError',
      });
      for (const none of ['9223372036854775808', '-9223372036854775809', '99999999999999999999'])
        await expect(provider.metadata(`sqlite:///big/${none}`, ctx), none).rejects.toMatchObject({
          code: 'not-found',
        });
    });
    keys.close();
  });
});
