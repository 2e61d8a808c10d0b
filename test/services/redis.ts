/** A private Redis for a test file: loopback only, and nothing is kept when it ends. */
import { findProgram, onFreePort, type Running, startServer } from './programs.ts';
import type { Service } from './service.ts';

const PASSWORD = 'glass case';

export const redis: Service = {
  name: 'Redis',
  missing: () => (findProgram('redis-server') === undefined ? 'there is no redis-server' : undefined),
};

export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
  /** Starts it again where it was; it has forgotten everything. */
  start(): Promise<void>;
}

export async function startRedis(): Promise<RedisServer> {
  const program = findProgram('redis-server');
  if (program === undefined) throw new Error('there is no redis-server');
  const run = (port: number): Promise<Running> =>
    startServer({
      account: undefined,
      // It writes to standard output.
      program: '/bin/sh',
      args: [
        '-c',
        'exec "$0" "$@" >&2',
        program,
        ...['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
        ...['--requirepass', PASSWORD, '--dir', '/tmp'],
      ],
      ready: 'Ready to accept connections',
      end: 'SIGKILL',
    });
  let at = 0;
  let running = await onFreePort((port) => {
    at = port;
    return run(port);
  });
  return {
    url: `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${at}`,
    stop: () => running.stop(),
    start: async () => {
      running = await run(at);
    },
    [Symbol.asyncDispose]: () => running.stop(),
  };
}
