/** Serves SQLite: one file, read-only, in processes of its own. */
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { invalid, ResourceError } from '../../../core/errors.ts';
import { missingPackage } from '../../../core/missing-package.ts';
import { SERVER } from '../../../core/waiting/fair-queue.ts';
import type { Connection, Dialect, Limits, Opening, Parameter } from '../dialect.ts';
import { connectionQueue } from '../queue.ts';
import { readCatalogue } from './catalogue.ts';
import { createProcesses } from './processes.ts';

/** The package that reads SQLite; it contains the binary. */
export const LIBRARY = '@photostructure/sqlite';

/** The most processes that have the file open at a time, unless `connections` says otherwise. */
export const PROCESSES = 2;

/** Milliseconds between checks for changes. */
const POLL_MS = 2_000;

export const sqliteDialect: Dialect = {
  scheme: 'sqlite',
  title: 'SQLite',
  hasSchemas: false,
  comparesRows: true,
  maxColumns: 2_000,
  compiler: ({ SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler }) => ({
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }),
  open,
};

async function open({ source, config }: Opening): Promise<Connection> {
  const library = libraryPath();
  let place = await placeOf(source);
  if (place === undefined) throw invalid(`${config.sql}: there is no such database file`);
  const queue = connectionQueue(config.connections ?? PROCESSES, config.statementTimeoutSeconds);
  const processes = createProcesses({ library, file: source, queue });

  /** Returns the identity of the file. If another file has taken its place, processes open that one from now on. */
  async function look(): Promise<string> {
    const now = await placeOf(source);
    if (now === undefined) throw new ResourceError('unavailable', 'The database file is gone');
    if (now !== place) {
      place = now;
      processes.renew();
    }
    return now;
  }

  const { watch } = config;
  const everyMs = watch === false ? undefined : watch === undefined ? POLL_MS : watch.pollSeconds * 1_000;
  const connection: Connection = {
    run: ({ sql, parameters }, limits) => processes.run({ sql, parameters: parameters.map(bindable) }, limits),
    catalogue: (limits) =>
      readCatalogue((sql, parameters, within) => processes.run({ sql, parameters }, within), limits),
    async version(limits) {
      const file = await look();
      const { rows } = await processes.run({ sql: 'PRAGMA schema_version', parameters: [] }, limits);
      return `${file} ${rows[0]?.[0]}`;
    },
    ...(everyMs !== undefined && {
      async watch(tell) {
        const report = (): void => tell(undefined);
        const replaced = setInterval(() => {
          const before = place;
          look().then(
            (now) => {
              if (now !== before) report();
            },
            () => {},
          );
        }, everyMs).unref();
        const commits = await processes.watch(everyMs, report);
        return {
          async [Symbol.asyncDispose]() {
            clearInterval(replaced);
            await commits[Symbol.asyncDispose]();
          },
        };
      },
    }),
    close: () => processes.close(),
  };
  try {
    await connection.version?.(openingLimits(config.statementTimeoutSeconds));
    return connection;
  } catch (error) {
    await processes.close();
    throw error instanceof ResourceError ? openingFault(config.sql, error) : error;
  }
}

/** Binds a boolean as an integer, since SQLite has no booleans. */
const bindable = (value: Parameter): Parameter => (typeof value === 'boolean' ? BigInt(value) : value);

const openingLimits = (seconds: number): Limits => ({
  maxRows: 1,
  maxBytes: 1_024,
  maxValueBytes: 1_024,
  timeoutMs: seconds * 1_000,
  signal: new AbortController().signal,
  caller: SERVER,
});

/** Adds SQLite's own message to an error, for the person who starts the server. */
function openingFault(path: string, error: ResourceError): ResourceError {
  const reason = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return invalid(`${path}: ${error.message}${reason}`).withCause(error);
}

/** Returns the device and inode of the file at a path; undefined if there is none. */
async function placeOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function libraryPath(): string {
  try {
    return createRequire(import.meta.url).resolve(LIBRARY);
  } catch (cause) {
    throw missingPackage('To serve SQLite, install its library (Linux, macOS and Windows, x64 and ARM64)', [LIBRARY], {
      cause,
    });
  }
}
