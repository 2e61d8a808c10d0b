/** Serves MySQL and MariaDB, over their own protocol, with the package `mysql2`. */
import type { Connection, Dialect, Opening } from '../dialect.ts';
import { firstLook } from '../first-look.ts';
import { mysqlCatalogue } from './catalogue.ts';
import { mysqlReader } from './connection.ts';
import { refusalOf } from './errors.ts';
import { mysqlPool } from './pool.ts';

export const mysqlDialect: Dialect = {
  scheme: 'mysql',
  title: 'MySQL',
  hasSchemas: true,
  // MySQL reads all rows for `(a, b) > (?, ?)`: it does not use the index.
  comparesRows: false,
  maxColumns: 4_096,
  compiler: ({ MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler }) => ({
    createAdapter: () => new MysqlAdapter(),
    createIntrospector: (db) => new MysqlIntrospector(db),
    createQueryCompiler: () => new MysqlQueryCompiler(),
  }),
  open,
};

async function open(opening: Opening): Promise<Connection> {
  const { config, log } = opening;
  const connections = await mysqlPool(opening);
  const reader = mysqlReader(connections, log);
  await firstLook(reader, refusalOf, log);
  return {
    run: (statement, limits) => reader.select(statement, limits),
    catalogue: (limits) =>
      reader.transaction(limits, (ask) => mysqlCatalogue(ask, connections.database, config.schemas)),
    close: () => reader.close(),
  };
}
