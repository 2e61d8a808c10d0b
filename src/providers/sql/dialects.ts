/** Picks the dialect of a source by its shape. A dialect's code is loaded when a database is mounted. */
import { isAbsolute, resolve } from 'node:path';
import { invalid } from '../../core/errors.ts';
import type { Dialect } from './dialect.ts';

/** Matches the beginning of a URL of a database server. */
const SERVER = /^(postgres(?:ql)?|mysql|mariadb):\/\//i;

/** Matches the beginning of a URL of a SQLite file: `sqlite:data.db`, `sqlite:///srv/data.db`. */
const FILE = /^(?:sqlite3?|file):/i;

/** Whether a text is the URL of a database. A path is not, whatever file lies there. */
export const isDatabaseUrl = (source: string): boolean => SERVER.test(source) || /^sqlite3?:/i.test(source);

/** Returns the dialect of a source. A text that is not the URL of a server is a SQLite file. */
export async function dialectOf(source: string): Promise<Dialect> {
  const server = SERVER.exec(source)?.[1]?.toLowerCase();
  if (server === undefined) return (await import('./sqlite/index.ts')).sqliteDialect;
  if (server.startsWith('postgres')) return (await import('./postgres/index.ts')).postgresDialect;
  return (await import('./mysql/index.ts')).mysqlDialect;
}

/** Returns the absolute path of a SQLite file. @throws ResourceError `invalid` for a URL that is not exactly one valid path */
export function sqlitePath(source: string, base: string): string {
  if (!FILE.test(source)) return resolve(base, source);
  const rest = source.slice(source.indexOf(':') + 1);
  if (/[?#]/.test(rest)) throw invalid('A sqlite: URL has a path and nothing else; write %3F or %23 for ? or # in it');
  const path = rest.startsWith('//') ? rest.slice(2) : rest;
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch (cause) {
    throw invalid('The escapes of the sqlite: URL are not valid UTF-8').withCause(cause);
  }
  if (rest.startsWith('//') && !isAbsolute(decoded))
    throw invalid('A sqlite: URL has no host: write sqlite:data.db, or sqlite:///srv/data.db');
  if (decoded === '') throw invalid('A sqlite: URL names a file, as in sqlite:data.db');
  return resolve(base, decoded);
}

/** Names a database after its source: the file name without its extension, or the database in the URL. */
export function databaseName(source: string): string {
  if (!SERVER.test(source)) {
    const file = source.replace(/[?#].*$/, '').replace(/^.*[/\\:]/, '');
    return file.replace(/\.(?:sqlite3?|db3?|s3db)$/i, '') || 'database';
  }
  if (!URL.canParse(source)) return 'database';
  const { pathname, hostname } = new URL(source);
  return pathname.slice(1) || hostname || 'database';
}
