/** Connections to a MySQL or MariaDB server, opened when they are needed, and few. */
import type { Connection, ConnectionOptions, Pool, PoolConnection } from 'mysql2/promise';
import { missingPackage } from '../../../core/missing-package.ts';
import type { FairQueue } from '../../../core/waiting/fair-queue.ts';
import type { Opening } from '../dialect.ts';
import { connectionQueue } from '../queue.ts';
import { CONNECTIONS, parseServerUrl, type ServerAddress } from '../server-url.ts';

/** The longest time that connecting may take, in milliseconds. */
const CONNECT_MS = 10_000;
/** An unused connection is kept for so long, in milliseconds. */
const IDLE_MS = 30_000;
/** Prepared statements that a connection keeps. */
const STATEMENTS = 100;

export interface Connections {
  readonly pool: Pool;
  /** Connects apart from the pool. */
  readonly apart: () => Promise<Connection>;
  /** Who gets one. */
  readonly queue: FairQueue;
  /** The database of the URL; undefined: all that may be read. */
  readonly database: string | undefined;
}

export type { PoolConnection };

/** @throws ResourceError `invalid`: the package is missing, or the URL is wrong */
export async function mysqlPool({ source, config, log }: Opening): Promise<Connections> {
  const { default: mysql } = await import('mysql2/promise').catch((cause: unknown) => {
    throw missingPackage('MySQL and MariaDB need a package that is not here', ['mysql2'], { cause });
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
    // Everything exact, and as text where JavaScript has no type for it.
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    rowsAsArray: true,
    maxPreparedStatements: STATEMENTS,
    multipleStatements: false,
    // The server may not ask for files of this machine.
    flags: ['-LOCAL_FILES'],
  };
}
