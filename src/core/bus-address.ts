/** Addresses of a bus over Redis or Valkey: one server, the master that sentinels know, or a cluster. */

/** One server. */
export interface RedisServerAddress {
  /**
   * As in `redis://user:password@host:6379/0`; with `rediss:` over TLS. Its host name may lead to another server after a
   * failover.
   */
  readonly url: string;
}

/** The master that sentinels agree on. */
export interface RedisSentinelAddress {
  /** Each sentinel, as in `redis://user:password@host:26379`; with `rediss:` over TLS. */
  readonly sentinels: readonly string[];
  /** The name by which the sentinels know the master. */
  readonly master: string;
  /** The user at the master and its successors. The addresses of the sentinels have users of their own. */
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Default: 0 */
  readonly database?: number | undefined;
  /** Whether to reach the master over TLS. Default: as the sentinels */
  readonly tls?: boolean | undefined;
}

/** A cluster, of which one shard carries the bus. */
export interface RedisClusterAddress {
  /** Some of its nodes, as in `redis://user:password@host:6379`, with the same user and password; with `rediss:` over TLS. */
  readonly cluster: readonly string[];
}

export type RedisAddress = RedisServerAddress | RedisSentinelAddress | RedisClusterAddress;

/** Says what is wrong with the address of a bus, and quotes nothing of it; undefined if the address is right. */
export function busProblem(address: RedisAddress): string | undefined {
  if ('sentinels' in address)
    return listProblem(address.sentinels, (url) =>
      urlProblem(url, 'has nothing behind its host: bus.database is of the master'),
    );
  if ('cluster' in address)
    return (
      listProblem(address.cluster, (url) =>
        urlProblem(url, 'has nothing behind its host: a cluster has one database'),
      ) ??
      (new Set(address.cluster.map(accessOf)).size > 1
        ? 'has addresses with different users, passwords or protocols; the nodes of a cluster have the same'
        : undefined)
    );
  return urlProblem(address.url);
}

function listProblem(urls: readonly string[], problem: (url: string) => string | undefined): string | undefined {
  if (urls.length === 0) return 'names no server';
  return urls.map(problem).find((reason) => reason !== undefined);
}

/** @param noDatabase the problem to report if the address has the number of a database; undefined if it may have one */
function urlProblem(url: string, noDatabase?: string): string | undefined {
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url))
    return 'is an address as in redis://host:6379 or rediss://host:6379';
  const { pathname } = new URL(url);
  if (noDatabase !== undefined) return /^\/?$/.test(pathname) ? undefined : noDatabase;
  return /^(\/\d*)?$/.test(pathname) ? undefined : 'has nothing behind its host, or the number of a database';
}

function accessOf(url: string): string {
  const { protocol, username, password } = new URL(url);
  return JSON.stringify([protocol, username, password]);
}
