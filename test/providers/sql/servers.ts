/** The database servers that are tested, and how each is written to. */
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { DatabaseServer } from '../../services/database.ts';
import { mariadb, startMariadb } from '../../services/mariadb.ts';
import { postgres, startPostgres } from '../../services/postgres.ts';
import type { Service } from '../../services/service.ts';
import { sampleStatements } from './record-shop.ts';

/** A connection that writes. */
export interface Writer extends AsyncDisposable {
  /** Runs one statement or several. */
  run(sql: string): Promise<void>;
  /** Rows of a statement, as the library's own client gives them. */
  rows(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
}

export interface ServerKind {
  readonly service: Service;
  readonly scheme: 'postgres' | 'mysql';
  readonly start: () => Promise<DatabaseServer>;
  readonly connect: (url: string) => Promise<Writer>;
  readonly quote: (name: string) => string;
  /** A statement that takes so many seconds. */
  readonly sleep: (seconds: number) => string;
  /** A placeholder, counted from 1. */
  readonly placeholder: (index: number) => string;
  /** The schema of a table by default, by the name of the database. */
  readonly schemaOf: (database: string) => string;
}

export const SERVERS: readonly ServerKind[] = [
  {
    service: postgres,
    scheme: 'postgres',
    start: startPostgres,
    quote: (name) => `"${name.replaceAll('"', '""')}"`,
    sleep: (seconds) => `SELECT pg_sleep(${seconds})`,
    placeholder: (index) => `$${index}`,
    schemaOf: () => 'public',
    async connect(url) {
      const client = new pg.Client({ connectionString: url });
      // Some tests stop the server, and so break this connection.
      client.on('error', () => {});
      await client.connect();
      return {
        run: async (sql) => {
          await client.query(sql);
        },
        rows: async (sql, values = []) => (await client.query(sql, [...values])).rows,
        [Symbol.asyncDispose]: async () => await client.end().catch(() => {}),
      };
    },
  },
  {
    service: mariadb,
    scheme: 'mysql',
    start: startMariadb,
    quote: (name) => `\`${name.replaceAll('`', '``')}\``,
    sleep: (seconds) => `SELECT SLEEP(${seconds})`,
    placeholder: () => '?',
    schemaOf: (database) => database,
    async connect(url) {
      const connection = await mysql.createConnection({ uri: url, multipleStatements: true });
      connection.on('error', () => {});
      return {
        run: async (sql) => {
          await connection.query(sql);
        },
        rows: async (sql, values = []) => (await connection.query(sql, [...values]))[0] as Record<string, unknown>[],
        [Symbol.asyncDispose]: async () => await connection.end().catch(() => connection.destroy()),
      };
    },
  },
];

/** Makes a database on a server, and connects to it. */
export async function makeDatabase(kind: ServerKind, server: DatabaseServer, name: string): Promise<Writer> {
  await using writer = await kind.connect(server.url());
  await writer.run(`CREATE DATABASE ${kind.quote(name)}`);
  return await kind.connect(server.url(name));
}

/** Fills a database with the sample. */
export async function fillSample(kind: ServerKind, writer: Writer): Promise<void> {
  for (const statement of sampleStatements(kind.scheme)) await writer.run(statement);
}
