/** PostgreSQL, over its own protocol, by `pg`. */
import { SERVER } from '../../../core/fair-queue.ts';
import type { Connection, Dialect, Opening } from '../dialect.ts';
import { postgresCatalogue } from './catalogue.ts';
import { postgresReader } from './connection.ts';
import { refusalOf } from './errors.ts';
import { listen } from './notifications.ts';
import { postgresPool } from './pool.ts';

/** How long the first look at the database may take, in milliseconds. */
const FIRST_LOOK_MS = 5_000;

export const postgresDialect: Dialect = {
  scheme: 'postgres',
  title: 'PostgreSQL',
  hasSchemas: true,
  comparesRows: true,
  maxColumns: 1_664,
  builder: ({ Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, DummyDriver }) =>
    new Kysely({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    }),
  open,
};

/**
 * A server that does not answer yet is no reason not to start: it may come. One that refuses is.
 */
async function open(opening: Opening): Promise<Connection> {
  const { config, log } = opening;
  const connections = await postgresPool(opening);
  const reader = postgresReader(connections, log);
  const { channel } = config.watch === false || config.watch === undefined ? {} : config.watch;
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
    catalogue: (limits) => reader.transaction(limits, (ask) => postgresCatalogue(ask, config.schemas)),
    watch: channel === undefined ? undefined : (tell) => listen({ connect: connections.apart, channel, log }, tell),
    close: () => reader.close(),
  };
}
