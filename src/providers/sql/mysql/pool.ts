/** A small pool of connections to a MySQL or MariaDB server, opened on demand. */
import type { Connection, ConnectionOptions, Pool, PoolConnection } from 'mysql2/promise';
import { missingPackage } from '../../../core/missing-package.ts';
import type { FairQueue } from '../../../core/waiting/fair-queue.ts';
import type { Opening } from '../dialect.ts';
import { connectionQueue } from '../queue.ts';
import { CONNECTIONS, parseServerUrl, type ServerAddress } from '../server-url.ts';

/** The longest time that connecting may take, in milliseconds. */
const CONNECT_MS = 10_000;
/** How long an unused connection is kept, in milliseconds. */
const IDLE_MS = 30_000;
/** The most prepared statements that a connection keeps. */
const STATEMENTS = 100;

export interface Connections {
  readonly pool: Pool;
  /** Opens a connection outside the pool. */
  readonly apart: () => Promise<Connection>;
  /** The queue for connections. */
  readonly queue: FairQueue;
  /** The database in the URL; undefined: all readable ones. */
  readonly database: string | undefined;
}

export type { PoolConnection };

/** @throws ResourceError `invalid`: the package is missing, or the URL is wrong */
export async function mysqlPool({ source, config, log }: Opening): Promise<Connections> {
  const { default: mysql } = await import('mysql2/promise').catch((cause: unknown) => {
    throw missingPackage('MySQL and MariaDB need a package that is not installed', ['mysql2'], { cause });
  });
  const address = await parseServerUrl(source, 3_306, log);
  const options = connectionOptions(address);
  const connections = config.connections ?? CONNECTIONS;
  const pool = mysql.createPool({
    ...options,
    connectionLimit: connections,
    maxIdle: connections,
    idleTimeout: IDLE_MS,
  });
  const queue = connectionQueue(connections, config.statementTimeoutSeconds);
  return { pool, queue, apart: () => mysql.createConnection(options), database: address.database };
}

function connectionOptions({ host, port, socket, user, password, database, tls }: ServerAddress): ConnectionOptions {
  return {
    ...(socket === undefined ? { host, port } : { socketPath: socket }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ...(tls !== undefined && {
      ssl: {
        rejectUnauthorized: tls.rejectUnauthorized !== false,
        verifyIdentity: tls.checksName,
        ...(typeof tls.ca === 'string' && { ca: tls.ca }),
      },
    }),
    connectTimeout: CONNECT_MS,
    charset: 'utf8mb4',
    // Returns exact values, as text where JavaScript has no type for them.
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    rowsAsArray: true,
    maxPreparedStatements: STATEMENTS,
    multipleStatements: false,
    // Keeps the server from requesting files of this machine.
    flags: ['-LOCAL_FILES'],
  };
}
