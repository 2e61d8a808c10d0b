/**
 * Every database server is kept from writes and from statements that run too long or give too much, and may refuse a connection
 * or go away.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createContext } from '../../../src/core/context.ts';
import type { ResourceProvider } from '../../../src/core/provider.ts';
import { treeUri } from '../../../src/core/uri.ts';
import { type SqlOptions, sqlProvider } from '../../../src/providers/sql/index.ts';
import { until, within } from '../../e2e/waiting.ts';
import type { DatabaseServer } from '../../services/database.ts';
import { describeWith } from '../../services/service.ts';
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
        // The limit does not apply to the next statements on the same connection.
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

/** Runs a statement that counts until it gives the expected count. */
async function waitFor(writer: Writer, sql: string, count: number): Promise<void> {
  await until(async () => {
    const [{ n } = { n: -1 }] = await writer.rows(sql);
    return Number(n) === count;
  }, `${count} running statements`);
}

/** The statement that counts the slow statements that run. */
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
