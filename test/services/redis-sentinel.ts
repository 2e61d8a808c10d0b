/** A private group of a master, two replicas and three sentinels. A failover takes a few seconds. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../e2e/waiting.ts';
import { freePort, privateFolder, type Running, removeFolder } from './programs.ts';
import { runRedis } from './redis.ts';
import { ask } from './redis-asking.ts';

export const MASTER_NAME = 'main';

/** A sentinel rewrites its file, and could not read one with a space in a password. */
const PASSWORD = 'glass%case';

const SENTINEL_PASSWORD = 'watchman';

/** How often a sentinel does what it otherwise does every ten seconds, or every second or two, in milliseconds. */
const PERIODS = { 'info-period': 200, 'ping-period': 100, 'ask-period': 100, 'publish-period': 200 } as const;

/** How long a sentinel may be suspended before it decides nothing for half a minute, in milliseconds. */
const PAUSES = { 'tilt-trigger': 60_000 } as const;

/** Until a master that does not answer counts as down, in milliseconds: longer than a busy machine delays an answer. */
const DOWN_AFTER_MS = 3_000;

/** Until sentinels give up a takeover, in milliseconds. */
const TAKE_OVER_MS = 3_000;

export interface SentinelGroup extends AsyncDisposable {
  /** For the configuration or the options of a bus. */
  readonly address: {
    readonly sentinels: readonly string[];
    readonly master: string;
    readonly password: string;
  };
  /** The URL of the present master. */
  master(): Promise<string>;
  /** Ends the master with SIGKILL. */
  killMaster(): Promise<void>;
  /** Lets a replica take over. The former master goes on as a replica. */
  handOver(): Promise<void>;
  /** Ends all sentinels with SIGKILL. */
  killSentinels(): Promise<void>;
  startSentinels(): Promise<void>;
}

const urlOf = (port: number, password = PASSWORD): string =>
  `redis://:${encodeURIComponent(password)}@127.0.0.1:${port}`;

export async function startSentinels(): Promise<SentinelGroup> {
  const folder = await privateFolder('sentinel', undefined);
  const servers = new Map<number, Running>();
  const ports = [await freePort(), await freePort(), await freePort()];
  const [first = 0] = ports;
  const auth = ['--requirepass', PASSWORD, '--masterauth', PASSWORD];
  const quick = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'];
  for (const port of ports) {
    const own = join(folder, String(port));
    await mkdir(own);
    const role = port === first ? [] : ['--replicaof', `127.0.0.1 ${first}`];
    servers.set(port, await runRedis(['--port', String(port), ...role, ...auth, ...quick], own));
  }
  const sentinels = new Map<number, Running | undefined>();
  for (let each = 0; each < 3; each++) {
    const port = await freePort();
    sentinels.set(port, undefined);
    await writeFile(
      join(folder, `${port}.conf`),
      `port ${port}
requirepass ${SENTINEL_PASSWORD}
sentinel sentinel-pass ${SENTINEL_PASSWORD}
sentinel monitor ${MASTER_NAME} 127.0.0.1 ${first} 2
sentinel auth-pass ${MASTER_NAME} ${PASSWORD}
sentinel failover-timeout ${MASTER_NAME} ${TAKE_OVER_MS}
`,
    );
  }
  const urls = [...sentinels.keys()].map((port) => urlOf(port, SENTINEL_PASSWORD));

  async function start(): Promise<void> {
    for (const port of sentinels.keys())
      sentinels.set(port, await runRedis([join(folder, `${port}.conf`), '--sentinel'], folder, '+monitor'));
    for (const url of urls)
      for (const [name, value] of Object.entries({ ...PERIODS, ...PAUSES }))
        await ask(url, ['SENTINEL', 'DEBUG', name, String(value)]);
    for (const url of urls)
      await until(async () => {
        const replicas = (await ask(url, ['SENTINEL', 'REPLICAS', MASTER_NAME])) as readonly unknown[];
        const peers = (await ask(url, ['SENTINEL', 'SENTINELS', MASTER_NAME])) as readonly unknown[];
        return replicas.length === 2 && peers.length === 2;
      }, 'sentinels to know each other');
    // Until here, a busy machine may start them all slowly.
    for (const url of urls)
      await ask(url, ['SENTINEL', 'SET', MASTER_NAME, 'down-after-milliseconds', String(DOWN_AFTER_MS)]);
  }
  await start();

  async function masterPort(): Promise<number> {
    const roles = await Promise.all(
      [...servers.keys()].map(async (port) => ({
        port,
        role: (await ask(urlOf(port), ['ROLE'])) as readonly unknown[],
      })),
    );
    return roles.find(({ role }) => role[0] === 'master')?.port ?? 0;
  }
  async function end(running: Map<number, Running | undefined>, port: number): Promise<void> {
    await running.get(port)?.stop();
    running.delete(port);
  }

  return {
    address: { sentinels: urls, master: MASTER_NAME, password: PASSWORD },
    master: async () => urlOf(await until(async () => (await masterPort()) || undefined, 'a server to be the master')),
    killMaster: async () => end(servers, await masterPort()),
    async handOver() {
      const before = await masterPort();
      const [sentinel = ''] = urls;
      let askedAt = Number.NEGATIVE_INFINITY;
      await until(async () => {
        if (![0, before].includes(await masterPort())) return true;
        if (performance.now() - askedAt > TAKE_OVER_MS) {
          askedAt = performance.now();
          // It refuses while another takeover is running.
          await ask(sentinel, ['SENTINEL', 'FAILOVER', MASTER_NAME]).catch(() => undefined);
        }
        return false;
      }, 'another master');
    },
    async killSentinels() {
      await Promise.all([...sentinels.values()].map((each) => each?.stop()));
    },
    startSentinels: start,
    async [Symbol.asyncDispose]() {
      await Promise.all([...sentinels.values(), ...servers.values()].map((each) => each?.stop()));
      await removeFolder(folder);
    },
  };
}
