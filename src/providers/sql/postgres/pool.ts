/** A small pool of connections to a PostgreSQL server, opened on demand. */
import type { Client, ClientConfig, Pool, PoolClient } from 'pg';
import { missingPackage } from '../../../core/missing-package.ts';
import type { FairQueue } from '../../../core/waiting/fair-queue.ts';
import type { Opening } from '../dialect.ts';
import { connectionQueue } from '../queue.ts';
import { CONNECTIONS, parseServerUrl, type ServerAddress } from '../server-url.ts';
import { withoutClient } from './errors.ts';

/** The longest time that connecting may take, in milliseconds. */
const CONNECT_MS = 10_000;
/** How long an unused connection is kept, in milliseconds. */
const IDLE_MS = 30_000;

export interface Connections {
  readonly pool: Pool;
  /** Makes a connection outside the pool, not connected yet. */
  readonly apart: () => Client;
  /** The queue for connections. */
  readonly queue: FairQueue;
}

export type { PoolClient };

/** @throws ResourceError `invalid`: the package is missing, or the URL is wrong */
export async function postgresPool({ source, config, log }: Opening): Promise<Connections> {
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw missingPackage('PostgreSQL needs a package that is not installed', ['pg'], { cause });
  });
  const client = clientConfig(await parseServerUrl(source, 5_432, log));
  const connections = config.connections ?? CONNECTIONS;
  const pool = new pg.Pool({
    ...client,
    max: connections,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  // An unused connection that breaks affects no request; the pool opens a new one.
  pool.on('error', (error) => log.debug('an unused database connection ended', { error: withoutClient(error) }));
  pool.on('connect', (connected) => connected.on('error', () => {}));
  const queue = connectionQueue(connections, config.statementTimeoutSeconds);
  return { pool, queue, apart: () => new pg.Client(client) };
}

/** Returns the options of `pg` for the address. */
export function clientConfig({ host, port, socket, user, password, database, tls }: ServerAddress): ClientConfig {
  return {
    // `pg` takes a path as the folder of a socket.
    host: socket ?? host,
    port,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ssl:
      tls === undefined
        ? false
        : {
            ...(tls.ca !== undefined && { ca: tls.ca }),
            rejectUnauthorized: tls.rejectUnauthorized,
            ...(!tls.checksName && { checkServerIdentity: () => undefined }),
          },
    application_name: 'vitrine',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    // Sends the statements of one read together instead of waiting for each.
    ...({ pipeline: true } as object),
  };
}
