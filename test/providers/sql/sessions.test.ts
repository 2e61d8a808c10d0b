/** A query of one principal changes its connection, and another principal's read does not notice: through the wire, on the real databases. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlProvider } from '../../../src/providers/sql/index.ts';
import { ERAS } from '../../e2e/harness.ts';
import { type Neighbours, neighbours, textOf, textsOf } from '../../security/neighbours.ts';
import type { Ask, Outcome } from '../../security/usage.ts';
import type { DatabaseServer } from '../../services/database.ts';
import { describeWith } from '../../services/service.ts';
import { makeDatabase, SERVERS, type ServerKind, type Writer } from './servers.ts';
import { makeStore } from './sqlite-store.ts';

/** Something that a statement leaves on its connection. */
interface Trace {
  readonly left: string;
  /** The statement that leaves it. */
  readonly by: string;
  /** A SELECT of one value that shows whether it is there. */
  readonly seen: string;
  /** The value on a new connection. */
  readonly clean: string | number | bigint | null;
}

interface Traces {
  /** Statements that a connection with all rights runs once. */
  readonly functions: readonly string[];
  readonly traces: readonly Trace[];
  /** A SELECT that would write through a function. */
  readonly writes: string;
}

const TRACES: Readonly<Record<ServerKind['scheme'], Traces>> = {
  mysql: {
    functions: [
      'CREATE TABLE kept (id integer PRIMARY KEY, word varchar(20))',
      "INSERT INTO kept VALUES (1, 'Grüße 雪')",
      `CREATE FUNCTION unsettle() RETURNS integer
       BEGIN
         SET SESSION sql_mode = 'ANSI_QUOTES';
         SET SESSION group_concat_max_len = 1024;
         SET SESSION time_zone = '+07:00';
         SET SESSION tx_isolation = 'READ-UNCOMMITTED';
         SET SESSION tx_read_only = 0;
         SET SESSION sql_select_limit = 1;
         SET SESSION max_statement_time = 0;
         SET NAMES latin1;
         RETURN 1;
       END`,
      `CREATE FUNCTION keep_aside() RETURNS integer
       BEGIN
         CREATE TEMPORARY TABLE aside (word varchar(20));
         RETURN 1;
       END`,
      "CREATE FUNCTION aside_word() RETURNS varchar(20) RETURN (SELECT 'aside' FROM kept LIMIT 1)",
      `CREATE FUNCTION write_down() RETURNS integer
       BEGIN
         INSERT INTO kept VALUES (2, 'written');
         RETURN 1;
       END`,
    ],
    traces: [
      { left: 'a lock', by: "SELECT GET_LOCK('vault', 0)", seen: "SELECT IS_USED_LOCK('vault')", clean: null },
      { left: 'a user variable', by: "SELECT @secret := 'of ann'", seen: 'SELECT @secret', clean: null },
      { left: 'the last insert id', by: 'SELECT LAST_INSERT_ID(42)', seen: 'SELECT LAST_INSERT_ID()', clean: 0 },
      { left: 'a mode', by: 'SELECT unsettle()', seen: 'SELECT "text"', clean: 'text' },
      { left: 'a time zone', by: 'SELECT unsettle()', seen: 'SELECT @@session.time_zone', clean: '+00:00' },
      {
        left: 'an isolation level',
        by: 'SELECT unsettle()',
        seen: 'SELECT @@session.tx_isolation',
        clean: 'REPEATABLE-READ',
      },
      {
        left: 'a limit of time',
        by: 'SELECT unsettle()',
        seen: 'SELECT @@session.max_statement_time',
        clean: 10,
      },
      {
        left: 'a character set',
        by: 'SELECT unsettle()',
        seen: 'SELECT @@session.character_set_results',
        clean: 'utf8mb4',
      },
      {
        left: 'a temporary table',
        by: 'SELECT keep_aside()',
        seen: "SELECT count(*) FROM information_schema.TABLES WHERE TABLE_NAME = 'aside'",
        clean: 0,
      },
    ],
    writes: 'SELECT write_down()',
  },
  postgres: {
    functions: [
      'CREATE TABLE kept (id integer PRIMARY KEY, word varchar(20))',
      "INSERT INTO kept VALUES (1, 'Grüße 雪')",
      ...[
        ['prepare_one', "EXECUTE 'PREPARE one AS SELECT 1'"],
        [
          'unsettle',
          "EXECUTE 'SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE'; EXECUTE 'SET TimeZone = ''Asia/Tokyo'''",
        ],
        ['listen_in', "EXECUTE 'LISTEN hall'"],
        ['hold_one', "EXECUTE 'DECLARE held CURSOR WITH HOLD FOR SELECT 1'"],
        ['keep_aside', "EXECUTE 'CREATE TEMPORARY TABLE aside (word text)'"],
        ['write_down', "INSERT INTO kept VALUES (2, 'written')"],
      ].map(
        ([name, what]) =>
          `CREATE FUNCTION ${name}() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN ${what}; RETURN 1; END $$`,
      ),
    ],
    traces: [
      {
        left: 'an advisory lock',
        by: 'SELECT pg_advisory_lock(7)',
        seen: "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'",
        clean: 0,
      },
      {
        left: 'a setting',
        by: "SELECT set_config('vitrine.secret', 'of ann', false)",
        seen: "SELECT nullif(current_setting('vitrine.secret', true), '')",
        clean: null,
      },
      {
        left: 'a role',
        by: "SELECT set_config('role', 'pg_read_all_data', false)",
        seen: 'SELECT (current_user = session_user)::text',
        clean: 'true',
      },
      {
        left: 'a prepared statement',
        by: 'SELECT prepare_one()',
        seen: 'SELECT count(*) FROM pg_prepared_statements',
        clean: 0,
      },
      { left: 'a time zone', by: 'SELECT unsettle()', seen: "SELECT current_setting('TimeZone')", clean: 'UTC' },
      { left: 'a channel', by: 'SELECT listen_in()', seen: 'SELECT count(*) FROM pg_listening_channels()', clean: 0 },
      {
        left: 'a cursor',
        by: 'SELECT hold_one()',
        seen: "SELECT count(*) FROM pg_cursors WHERE name = 'held'",
        clean: 0,
      },
      {
        left: 'a temporary table',
        by: 'SELECT keep_aside()',
        seen: "SELECT count(*) FROM pg_class WHERE relname = 'aside'",
        clean: 0,
      },
    ],
    writes: 'SELECT write_down()',
  },
};

/** The value of a result, as its JSON has it. */
const value = (outcome: Outcome): unknown => {
  const { rows } = JSON.parse(textsOf(outcome)[0] ?? '') as { readonly rows: readonly { readonly row: object }[] };
  return Object.values(rows[0]?.row ?? {})[0];
};

const run = (ask: Ask, scheme: string, name: string): Promise<Outcome> =>
  ask('resources/read', { uri: `${scheme}:///~queries/${name}` });

for (const kind of SERVERS) {
  const { scheme } = kind;
  const { functions, traces, writes } = TRACES[scheme];

  describeWith([kind.service])(kind.service.name, () => {
    let server: DatabaseServer;
    let writer: Writer;

    /** Serves the database; all callers share one connection. */
    const serve = async (era: (typeof ERAS)[number]): Promise<Neighbours> => {
      const queries = Object.fromEntries([
        ...traces.flatMap(({ by, seen }, n) => [
          [`by-${n}`, { sql: by }],
          [`seen-${n}`, { sql: seen }],
        ]),
        ['writes', { sql: writes }],
        ['word', { sql: 'SELECT word FROM kept' }],
        ['wrong', { sql: 'SELECT word FROM no_such_table' }],
      ]);
      const options = { sql: server.url('sessions'), queries, connections: 1, watch: false } as const;
      return await neighbours(era, await sqlProvider(options));
    };

    beforeAll(async () => {
      server = await kind.start();
      writer = await makeDatabase(kind, server, 'sessions');
      for (const statement of functions) await writer.run(statement);
    });
    afterAll(async () => {
      await writer?.[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    });

    describe.each(ERAS)('%s', (era) => {
      it.each(traces.map((trace, n) => [trace.left, trace, n] as const))(
        '%s of a query does not reach the next query',
        async (_left, { clean }, n) => {
          await using on = await serve(era);
          expect(value(await run(on.bob, scheme, `seen-${n}`))).toEqual(clean);
          // The read-only transaction refuses some of these queries. Those leave nothing, either.
          await run(on.ann, scheme, `by-${n}`);
          expect(value(await run(on.bob, scheme, `seen-${n}`))).toEqual(clean);
          // The same if a statement fails afterwards.
          await run(on.ann, scheme, `by-${n}`);
          expect((await run(on.ann, scheme, 'wrong')).error).toBeDefined();
          expect(value(await run(on.bob, scheme, `seen-${n}`))).toEqual(clean);
        },
      );

      it('a connection only reads, and reads every character, whatever earlier queries did to its session', async () => {
        await using on = await serve(era);
        for (let n = 0; n < traces.length; n++) {
          await run(on.ann, scheme, `by-${n}`);
          expect((await run(on.bob, scheme, 'writes')).error?.data).toMatchObject({ reason: 'denied' });
          expect(value(await run(on.bob, scheme, 'word'))).toBe('Grüße 雪');
        }
      });
    });

    it('a lock that a query took is released for other users of the database', async () => {
      await using on = await serve('modern');
      const lock = traces.findIndex(({ left }) => left.endsWith('lock'));
      expect((await run(on.ann, scheme, `by-${lock}`)).error).toBeUndefined();
      // When this query has the connection, the session of the earlier one has been reset.
      expect((await run(on.bob, scheme, 'word')).error).toBeUndefined();
      const rows = await writer.rows(traces[lock]?.seen ?? '');
      expect(Number(Object.values(rows[0] ?? {})[0])).toBe(0);
    });
  });
}

describeWith(SERVERS.filter(({ scheme }) => scheme === 'mysql').map(({ service }) => service))('MariaDB', () => {
  it('is read with every character even if the default character set of the server is latin1', async () => {
    const kind = SERVERS.find(({ scheme }) => scheme === 'mysql');
    if (kind === undefined) throw new Error('there is no MariaDB among the servers');
    await using server = await kind.start();
    await using writer = await makeDatabase(kind, server, 'letters');
    await writer.run(
      "CREATE TABLE kept (id integer PRIMARY KEY, word varchar(20)); INSERT INTO kept VALUES (1, 'Grüße 雪')",
    );
    for (const which of ['client', 'connection', 'results', 'server'])
      await writer.run(`SET GLOBAL character_set_${which} = latin1`);
    const queries = { word: { sql: 'SELECT word FROM kept' } };
    const options = { sql: server.url('letters'), queries, connections: 1, watch: false } as const;
    await using on = await neighbours('modern', await sqlProvider(options));
    for (let n = 0; n < 3; n++) expect(value(await run(on.ann, 'mysql', 'word'))).toBe('Grüße 雪');
  });
});

describe('SQLite', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-sessions-sql-'));
    makeStore(join(folder, 'store.sqlite')).close();
    makeStore(join(folder, 'other.sqlite')).close();
  });
  afterAll(async () => await rm(folder, { recursive: true, force: true }));

  it.each([
    'CREATE TEMP TABLE aside (word)',
    'CREATE TEMP VIEW aside AS SELECT 1',
    "ATTACH DATABASE 'other.sqlite' AS other",
    'PRAGMA case_sensitive_like = ON',
    'PRAGMA query_only = OFF',
    'PRAGMA writable_schema = ON',
    'BEGIN',
    'SAVEPOINT here',
  ])('refuses a statement whose effect would stay on the connection: %s', async (sql) => {
    const queries = { leaves: { sql }, like: { sql: "SELECT 'A' LIKE 'a'" } };
    const options = { sql: join(folder, 'store.sqlite'), queries, connections: 1, watch: false } as const;
    await using on = await neighbours('modern', await sqlProvider(options));
    expect((await run(on.ann, 'sqlite', 'leaves')).error?.data).toMatchObject({ reason: 'denied' });
    expect(value(await run(on.bob, 'sqlite', 'like'))).toBe(1);
    expect(textOf(await on.bob('resources/read', { uri: 'sqlite:///Artist/1' }))).toContain('birch kestrel 1');
  });
});
