/**
 * The connections of an index to its database. One of them can have the lease: a lock that ends with the connection. The
 * server that has it writes over this connection alone, so that it cannot write any more once it has lost the lease.
 */
import { createHash } from 'node:crypto';
import type { Client, Pool } from 'pg';
import type { Log } from '../../core/context.ts';
import { withoutClient } from '../../providers/sql/postgres/errors.ts';
import { clientConfig } from '../../providers/sql/postgres/pool.ts';
import { parseServerUrl } from '../../providers/sql/server-url.ts';
import { type Rows, SqlFault, type SqlValue } from '../thread.ts';
import { faultOf } from './faults.ts';

/** The most connections for questions. */
const CONNECTIONS = 4;

/** The most milliseconds for a statement of a question, and for a statement that writes. */
const QUESTION_MS = 5_000;
const WRITE_MS = 120_000;

/** Milliseconds after either limit in which the database may end the statement itself. Then this server gives it up. */
const GRACE_MS = 1_000;

/** The database notices after some 25 seconds that a server has vanished, so that another one can get the lease. */
const KEEPALIVE = ['tcp_keepalives_idle = 10', 'tcp_keepalives_interval = 5', 'tcp_keepalives_count = 3'];

/** Runs a statement. */
export type Ask = (sql: string, ...parameters: readonly unknown[]) => Promise<Rows>;

/** Conversions by the number of a type: booleans become 1 and 0, and all numbers become numbers. */
const READERS: Readonly<Record<number, (text: string) => SqlValue>> = {
  16: (text) => (text === 't' ? 1 : 0),
  20: Number,
  21: Number,
  23: Number,
  701: Number,
  1700: Number,
};
const types = { getTypeParser: (oid: number) => READERS[oid] ?? ((text: string) => text) };

export interface Connections {
  /** Runs a statement that reads. @throws SqlFault; ResourceError `timeout` or `invalid` */
  readonly ask: Ask;
  /** Whether this server has the lease, or gets it now. @throws SqlFault */
  lead(): Promise<boolean>;
  /** Runs statements in one transaction on the connection with the lease. @throws SqlFault `locked` without the lease */
  write<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  /** Runs statements in one transaction, which waits for those of other servers. Needs no lease. @throws SqlFault */
  alone<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly url: string;
  readonly schema: string;
  readonly log: Log;
  /** Is called when the lease is lost. */
  readonly lost: (fault: SqlFault) => void;
}

/** @throws ResourceError `invalid` for a wrong URL */
export async function openConnections({ url, schema, log, lost }: ConnectionOptions): Promise<Connections> {
  const { default: pg } = await import('pg');
  const config = clientConfig(await parseServerUrl(url, 5_432, log));
  const limited = (ms: number): object => ({ ...config, statement_timeout: ms, query_timeout: ms + GRACE_MS });
  const pool: Pool = new pg.Pool({ ...limited(QUESTION_MS), max: CONNECTIONS, allowExitOnIdle: true });
  pool.on('error', (error) => log.debug('an unused database connection ended', { error: withoutClient(error) }));
  pool.on('connect', (client) => client.on('error', () => {}));
  let leading: { readonly client: Client; has: boolean } | undefined;
  let closed = false;
  /** The latest transaction. The next one waits for it, since they share a connection. */
  let writing: Promise<unknown> = Promise.resolve();

  async function run(client: Client | Pool, sql: string, parameters: readonly unknown[]): Promise<Rows> {
    try {
      return (await client.query<SqlValue[]>({ text: sql, values: [...parameters], rowMode: 'array', types })).rows;
    } catch (error) {
      throw faultOf(error);
    }
  }

  async function connect(): Promise<Client> {
    const client = new pg.Client(limited(WRITE_MS));
    const gone = (error?: unknown): void => {
      if (leading?.client !== client) return;
      const { has } = leading;
      leading = undefined;
      if (has && !closed) lost(new SqlFault('gone', String(error), { reason: 'its database does not answer' }));
    };
    client.on('error', gone);
    client.on('end', () => gone());
    try {
      await client.connect();
    } catch (error) {
      throw faultOf(error);
    }
    return client;
  }

  async function transaction<T>(client: Client, work: (ask: Ask) => Promise<T>): Promise<T> {
    const ask: Ask = (sql, ...parameters) => run(client, sql, parameters);
    await ask('BEGIN');
    try {
      const result = await work(ask);
      await ask('COMMIT');
      return result;
    } catch (error) {
      await ask('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  return {
    ask: (sql, ...parameters) => run(pool, sql, parameters),
    async lead() {
      if (leading === undefined) {
        const client = await connect();
        try {
          for (const setting of KEEPALIVE) await run(client, `SET ${setting}`, []);
        } catch (error) {
          await client.end().catch(() => {});
          throw error;
        }
        leading = { client, has: false };
      }
      const { client } = leading;
      if (!leading.has) {
        const [[has] = []] = await run(client, 'SELECT pg_try_advisory_lock($1, $2)', lockOf(`${schema} lease`));
        if (leading?.client === client) leading.has = has === 1;
      }
      return leading?.has === true;
    },
    write(work) {
      const done = writing.then(() => {
        if (leading?.has === true) return transaction(leading.client, work);
        throw new SqlFault('locked', 'The lease is lost', { reason: 'another server keeps it up to date' });
      });
      writing = done.catch(() => {});
      return done;
    },
    async alone(work) {
      const client = await connect();
      try {
        return await transaction(client, async (ask) => {
          await ask('SELECT pg_advisory_xact_lock($1, $2)', ...lockOf(`${schema} schema`));
          return await work(ask);
        });
      } finally {
        await client.end().catch(() => {});
      }
    },
    async close() {
      closed = true;
      const client = leading?.client;
      leading = undefined;
      await Promise.allSettled([client?.end(), pool.end()]);
    },
  };
}

/** Returns the two numbers of a lock. They are the same in every server. */
function lockOf(name: string): readonly [number, number] {
  const digest = createHash('sha256').update(`vitrine index ${name}`).digest();
  return [digest.readInt32BE(0), digest.readInt32BE(4)];
}
