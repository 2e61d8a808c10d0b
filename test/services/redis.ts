/** A private Redis for a test file: loopback only, with data in memory only. */
import { findProgram, onFreePort, type Running, startServer } from './programs.ts';
import type { Service } from './service.ts';

export const PASSWORD = 'glass case';

export const redis: Service = {
  name: 'Redis',
  missing: () => (findProgram('redis-server') === undefined ? 'there is no redis-server' : undefined),
};

export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
  /** Starts it again at the same port, without its data. */
  start(): Promise<void>;
}

/** Files with its certificate and key, for TLS in place of plain connections. */
export interface RedisTls {
  readonly cert: string;
  readonly key: string;
}

export async function startRedis(tls?: RedisTls): Promise<RedisServer> {
  const run = (port: number): Promise<Running> =>
    runRedis([...(tls === undefined ? ['--port', String(port)] : tlsOf(port, tls)), '--requirepass', PASSWORD]);
  let at = 0;
  let running = await onFreePort((port) => {
    at = port;
    return run(port);
  });
  return {
    url: `${tls === undefined ? 'redis' : 'rediss'}://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${at}`,
    stop: () => running.stop(),
    start: async () => {
      running = await run(at);
    },
    [Symbol.asyncDispose]: () => running.stop(),
  };
}

/**
 * Runs a server of Redis, or a sentinel where the first of the arguments is a file for one.
 * @param folder where a replica keeps what its master gives it
 */
export function runRedis(
  args: readonly string[],
  folder = '/tmp',
  ready = 'Ready to accept connections',
): Promise<Running> {
  const program = findProgram('redis-server');
  if (program === undefined) throw new Error('there is no redis-server');
  return startServer({
    account: undefined,
    // It logs to standard output.
    program: '/bin/sh',
    args: ['-c', 'exec "$0" "$@" >&2', program, ...args, ...KEEPS_NOTHING, '--dir', folder],
    ready,
    end: 'SIGKILL',
  });
}

const KEEPS_NOTHING = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];

const tlsOf = (port: number, { cert, key }: RedisTls): readonly string[] => [
  ...['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no'],
  ...['--tls-cert-file', cert, '--tls-key-file', key],
];
