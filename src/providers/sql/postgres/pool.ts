/** Connections to a PostgreSQL server, opened when they are needed, and few. */
import type { Client, ClientConfig, Pool, PoolClient } from 'pg';
import { missingPackage } from '../../../core/missing-package.ts';
import type { FairQueue } from '../../../core/waiting/fair-queue.ts';
import type { Opening } from '../dialect.ts';
import { connectionQueue } from '../queue.ts';
import { CONNECTIONS, parseServerUrl, type ServerAddress } from '../server-url.ts';
import { withoutClient } from './errors.ts';

/** The longest time that connecting may take, in milliseconds. */
const CONNECT_MS = 10_000;
/** An unused connection is kept for so long, in milliseconds. */
const IDLE_MS = 30_000;

export interface Connections {
  readonly pool: Pool;
  /** One that is not of the pool, not connected yet. */
  readonly apart: () => Client;
  /** Who gets one. */
  readonly queue: FairQueue;
}

export type { PoolClient };

/** @throws ResourceError `invalid`: the package is missing, or the URL is wrong */
export async function postgresPool({ source, config, log }: Opening): Promise<Connections> {
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw missingPackage('PostgreSQL needs a package that is not here', ['pg'], { cause });
  });
  const client = clientConfig(await parseServerUrl(source, 5_432, log));
  const connections = config.connections ?? CONNECTIONS;
  const pool = new pg.Pool({
    ...client,
    max: connections,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  // A connection that breaks while nobody uses it is nobody's failure; the next one is a new one.
  pool.on('error', (error) => log.debug('an unused database connection ended', { error: withoutClient(error) }));
  pool.on('connect', (connected) => connected.on('error', () => {}));
  const queue = connectionQueue(connections, config.statementTimeoutSeconds);
  return { pool, queue, apart: () => new pg.Client(client) };
}

/** How `pg` connects to it. */
export function clientConfig({ host, port, socket, user, password, database, tls }: ServerAddress): ClientConfig {
  return {
    // A path is a folder with sockets to this library.
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
    // The statements of one reading go out together instead of waiting for one another.
    ...({ pipeline: true } as object),
  };
}
