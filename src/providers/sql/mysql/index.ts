/** MySQL and MariaDB, over their own protocol, by `mysql2`. */
import { SERVER } from '../../../core/fair-queue.ts';
import type { Connection, Dialect, Opening } from '../dialect.ts';
import { mysqlCatalogue } from './catalogue.ts';
import { mysqlReader } from './connection.ts';
import { refusalOf } from './errors.ts';
import { mysqlPool } from './pool.ts';

/** How long the first look at the database may take, in milliseconds. */
const FIRST_LOOK_MS = 5_000;

export const mysqlDialect: Dialect = {
  scheme: 'mysql',
  title: 'MySQL',
  hasSchemas: true,
  // It finds `(a, b) > (?, ?)` by reading all rows.
  comparesRows: false,
  maxColumns: 4_096,
  builder: ({ Kysely, MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler, DummyDriver }) =>
    new Kysely({
      dialect: {
        createAdapter: () => new MysqlAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new MysqlIntrospector(db),
        createQueryCompiler: () => new MysqlQueryCompiler(),
      },
    }),
  open,
};

/** A server that does not answer yet is no reason not to start: it may come. One that refuses is. */
async function open(opening: Opening): Promise<Connection> {
  const { config, log } = opening;
  const connections = await mysqlPool(opening);
  const reader = mysqlReader(connections, log);
  try {
    const limits = { timeoutMs: FIRST_LOOK_MS, signal: new AbortController().signal, caller: SERVER };
    await reader.transaction(limits, (ask) => ask('SELECT 1'));
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal !== undefined) {
      await reader.close();
      throw refusal;
    }
    log.warn('the database does not answer yet', { error });
  }
  return {
    run: (statement, limits) => reader.select(statement, limits),
    catalogue: (limits) =>
      reader.transaction(limits, (ask) => mysqlCatalogue(ask, connections.database, config.schemas)),
    close: () => reader.close(),
  };
}
