/**
 * Serves a database, which is an SQLite file, PostgreSQL, MySQL or MariaDB: `sqlite:///customers/17` is the row 17 of the
 * table `customers`. Lists tables and rows, reads rows and pages of them in several formats, describes tables, runs saved
 * queries, completes keys, and watches. Never writes.
 *
 * @example
 * const shop = await sqlProvider({ sql: './shop.sqlite' });
 */
import { type Log, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { createCatalogues } from './catalogues.ts';
import { type SqlInput, sqlConfig } from './config.ts';
import type { OpenDatabase } from './database.ts';
import { databaseName, dialectOf, isDatabaseUrl, sqlitePath } from './dialects.ts';
import { limitsFor } from './limits.ts';
import { listPlace } from './list.ts';
import { createPlaces } from './place.ts';
import { createRead } from './read.ts';
import { createResources } from './resources.ts';
import { createRowReader } from './rows.ts';
import { savedQueries } from './saved-queries.ts';
import { seenTables } from './seen.ts';
import { createTemplates } from './templates.ts';
import { createWatching } from './watch.ts';

export { type SqlConfig, type SqlInput, sqlConfig } from './config.ts';
export { databaseName, isDatabaseUrl } from './dialects.ts';

export interface SqlOptions extends SqlInput {
  /** The name of the database. Default: the file's name, or the database of the URL. */
  readonly name?: string;
  /** The folder that relative paths start from. Default: the working directory. */
  readonly base?: string;
  readonly log?: Log;
}

/**
 * Makes a provider of a database.
 * @throws ResourceError `invalid` if the database does not exist or cannot be opened, or if a package is missing. The
 *   message is for the person who starts the server, and never contains a password.
 */
export async function sqlProvider({
  name,
  base = process.cwd(),
  log = SILENT,
  ...input
}: SqlOptions): Promise<ResourceProvider> {
  const config = sqlConfig.parse(input);
  const kysely = await import('kysely');
  const dialect = await dialectOf(config.sql);
  const source = dialect.scheme === 'sqlite' ? sqlitePath(config.sql, base) : config.sql;
  const connection = await dialect.open({ source, config, log });

  const limitsOf = limitsFor(config);
  const saved = savedQueries(dialect.scheme, config.queries);
  const polls = config.watch !== false && config.watch?.query !== undefined;
  const database: OpenDatabase = {
    name: name ?? databaseName(config.sql),
    dialect,
    config,
    connection,
    limitsOf,
    saved,
    catalogues: createCatalogues(connection, config, limitsOf),
    places: createPlaces(dialect, new Set(saved.keys())),
    reader: createRowReader(kysely, dialect, connection, limitsOf),
    watches: config.watch !== false && (connection.watch !== undefined || polls),
  };
  const { catalogues, places } = database;
  const resources = createResources(database);
  const read = createRead(database, resources);
  const templates = createTemplates(database);
  const watching = database.watches ? createWatching(database, read) : undefined;
  // A file is not reached over a connection, and may differ from replica to replica, so each replica watches its own.
  const remote = isDatabaseUrl(config.sql) && dialect.scheme !== 'sqlite';

  return {
    name: database.name,
    features: {
      schemes: [dialect.scheme],
      watch: watching !== undefined,
      templates: true,
      completion: true,
      search: false,
      gathers: true,
      ranges: false,
      remote,
    },

    async list(uri, page, ctx) {
      ctx.signal.throwIfAborted();
      if (uri === undefined) return { resources: [resources.database()] };
      const known = await catalogues.get(ctx);
      const place = places.parse(uri, known);
      const seen = await seenTables(known, places, ctx);
      return await about(uri, () => listPlace(database, resources, place, uri, seen, page, ctx));
    },

    async metadata(uri, ctx) {
      ctx.signal.throwIfAborted();
      const place = places.parse(uri, await catalogues.get(ctx));
      return await about(uri, () => resources.of(place, uri, ctx));
    },

    async read(uri, want, ctx) {
      ctx.signal.throwIfAborted();
      const known = await catalogues.get(ctx);
      const place = places.parse(uri, known);
      const seen = await seenTables(known, places, ctx);
      return await about(uri, () => read(place, uri, seen, want, ctx));
    },

    listTemplates: async (page, ctx) => templates.list(await catalogues.get(ctx), page),
    complete: async (request, ctx) => await templates.complete(await catalogues.get(ctx), request, ctx),
    ...(watching !== undefined && {
      async watch(uri, onChange, ctx) {
        ctx.signal.throwIfAborted();
        if (uri !== undefined) assertOwn(uri, await catalogues.get(ctx));
        return await watching.add(uri, onChange);
      },
      ...(remote && { heard: watching.heard }),
    }),

    async close() {
      await watching?.close();
      await connection.close();
    },
  } satisfies ResourceProvider;

  /** Throws for a URI that cannot be one of this database. A place that does not exist yet may be watched. */
  function assertOwn(uri: string, known: Awaited<ReturnType<typeof catalogues.get>>): void {
    try {
      places.parse(uri, known);
    } catch (error) {
      if (!(error instanceof ResourceError) || error.code !== 'not-found') throw error;
    }
  }
}

/** Adds the URI of the requested resource to an error of the database. */
async function about<T>(uri: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ResourceError && error.uri === undefined) throw error.withUri(uri);
    throw error;
  }
}
