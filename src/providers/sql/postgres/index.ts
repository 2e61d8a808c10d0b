/** Serves PostgreSQL, over its own protocol, with the package `pg`. */
import type { Connection, Dialect, Opening } from '../dialect.ts';
import { firstLook } from '../first-look.ts';
import { postgresCatalogue } from './catalogue.ts';
import { postgresReader } from './connection.ts';
import { refusalOf } from './errors.ts';
import { listen } from './notifications.ts';
import { postgresPool } from './pool.ts';

export const postgresDialect: Dialect = {
  scheme: 'postgres',
  title: 'PostgreSQL',
  hasSchemas: true,
  comparesRows: true,
  maxColumns: 1_664,
  compiler: ({ PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler }) => ({
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }),
  open,
};

async function open(opening: Opening): Promise<Connection> {
  const { config, log } = opening;
  const connections = await postgresPool(opening);
  const reader = postgresReader(connections, log);
  const { channel } = config.watch === false || config.watch === undefined ? {} : config.watch;
  await firstLook(reader, refusalOf, log);
  return {
    run: (statement, limits) => reader.select(statement, limits),
    catalogue: (limits) => reader.transaction(limits, (ask) => postgresCatalogue(ask, config.schemas)),
    watch: channel === undefined ? undefined : (tell) => listen({ connect: connections.apart, channel, log }, tell),
    close: () => reader.close(),
  };
}
