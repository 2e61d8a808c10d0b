/** A private cluster of three masters, each with a replica. A failover takes a few seconds. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../e2e/waiting.ts';
import { freePort, privateFolder, type Running, removeFolder } from './programs.ts';
import { PASSWORD, runRedis } from './redis.ts';
import { ask } from './redis-asking.ts';

/** Slots of a cluster. */
const SLOTS = 16_384;

/** Until a node that does not answer counts as down, in milliseconds: longer than a busy machine delays an answer. */
const NODE_TIMEOUT_MS = 3_000;

/** Until a replica gives up taking over from its master, in milliseconds. */
const TAKE_OVER_MS = 5_000;

/**
 * Until Redis forgets the votes of an election, in milliseconds: a replica that has won one, and has to take over again before, would do
 * so with the old votes, which the other nodes do not accept.
 */
const FORGET_VOTES_MS = 4 * NODE_TIMEOUT_MS + 1_000;

export interface RedisCluster extends AsyncDisposable {
  /** For the configuration or the options of a bus: two of the three masters at the start, and two of the replicas. */
  readonly address: { readonly cluster: readonly string[] };
  /** The URL of the present master of a key. */
  masterOf(key: string): Promise<string>;
  /** Ends the master of a key with SIGKILL. */
  killMasterOf(key: string): Promise<void>;
  /** Lets a replica of the master of a key take over. Both go on. */
  handOver(key: string): Promise<void>;
}

const urlOf = (port: number): string => `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`;

export async function startCluster(): Promise<RedisCluster> {
  const folder = await privateFolder('cluster', undefined);
  const nodes = new Map<number, Running>();
  const gates = new Map<number, number>();
  for (let each = 0; each < 6; each++) {
    const [port, gate] = [await freePort(), await freePort()];
    gates.set(port, gate);
    const own = join(folder, String(port));
    await mkdir(own);
    const args = [
      ...['--port', String(port), '--cluster-enabled', 'yes', '--cluster-port', String(gate)],
      ...['--cluster-config-file', 'nodes.conf'],
      ...['--cluster-node-timeout', String(NODE_TIMEOUT_MS), '--requirepass', PASSWORD, '--masterauth', PASSWORD],
      ...['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'],
    ];
    nodes.set(port, await runRedis(args, own));
  }
  const ports = [...nodes.keys()];
  const [masters, replicas] = [ports.slice(0, 3), ports.slice(3)];
  for (const [at, port] of masters.entries()) {
    const [from, to] = [at, at + 1].map((each) => Math.ceil((SLOTS * each) / masters.length));
    await ask(urlOf(port), ['CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? 0) - 1)]);
    await ask(urlOf(port), ['CLUSTER', 'SET-CONFIG-EPOCH', String(at + 1)]);
  }
  const [first = 0, ...others] = ports;
  for (const port of others)
    await ask(urlOf(first), ['CLUSTER', 'MEET', '127.0.0.1', String(port), String(gates.get(port))]);
  const info = async (port: number): Promise<string> => String(await ask(urlOf(port), ['CLUSTER', 'INFO']));
  const all = (text: string) => async (): Promise<boolean> =>
    (await Promise.all(ports.map(info))).every((each) => each.includes(text));
  await until(all('cluster_known_nodes:6'), 'the nodes to know each other');
  for (const [at, port] of replicas.entries()) {
    const id = String(await ask(urlOf(masters[at] ?? 0), ['CLUSTER', 'MYID']));
    await until(
      () => ask(urlOf(port), ['CLUSTER', 'REPLICATE', id]).catch(() => undefined),
      'a replica to know its master',
    );
  }
  await until(all('cluster_state:ok'), 'the cluster to be whole');
  await until(async () => {
    const roles = await Promise.all(replicas.map((port) => ask(urlOf(port), ['ROLE'])));
    return roles.every((role) => Array.isArray(role) && role[0] === 'slave' && role[3] === 'connected');
  }, 'the replicas to follow');

  /** When nodes took over, as times of `performance.now()`. */
  const tookOver = new Map<number, number>();
  const votesAreForgotten = (ports: readonly number[]): Promise<boolean> =>
    until(
      () =>
        ports.every((port) => performance.now() - (tookOver.get(port) ?? Number.NEGATIVE_INFINITY) > FORGET_VOTES_MS),
      'the votes of the last election to be forgotten',
    );

  /** The ports of the master of a key, and of its replicas, once all running nodes name the same master. */
  async function shardOf(key: string): Promise<readonly number[]> {
    const [first = 0] = nodes.keys();
    const slot = Number(await ask(urlOf(first), ['CLUSTER', 'KEYSLOT', key]));
    const seenBy = async (port: number): Promise<readonly number[]> => {
      const ranges = (await ask(urlOf(port), ['CLUSTER', 'SLOTS'])) as readonly (readonly unknown[])[];
      const range = ranges.find(([from, to]) => Number(from) <= slot && slot <= Number(to)) ?? [];
      return range.slice(2).map((node) => Number((node as readonly unknown[])[1]));
    };
    return until(async () => {
      const [shard = [], ...others] = await Promise.all([...nodes.keys()].map(seenBy));
      const [master = 0] = shard;
      return nodes.has(master) && others.every(([each]) => each === master) && shard;
    }, 'the nodes to agree on a master that runs');
  }

  return {
    address: { cluster: [...masters.slice(1), ...replicas.slice(0, 2)].map(urlOf) },
    masterOf: async (key) => urlOf((await shardOf(key))[0] ?? 0),
    async killMasterOf(key) {
      const [port = 0, ...heirs] = await shardOf(key);
      await votesAreForgotten(heirs);
      await nodes.get(port)?.stop();
      nodes.delete(port);
    },
    async handOver(key) {
      const [, replica = 0] = await shardOf(key);
      await votesAreForgotten([replica]);
      let askedAt = Number.NEGATIVE_INFINITY;
      await until(async () => {
        const role = await ask(urlOf(replica), ['ROLE']);
        if (Array.isArray(role) && role[0] === 'master') return true;
        if (performance.now() - askedAt > TAKE_OVER_MS) {
          await ask(urlOf(replica), ['CLUSTER', 'FAILOVER']);
          askedAt = performance.now();
        }
        return false;
      }, 'the replica to take over');
      tookOver.set(replica, performance.now());
      await shardOf(key);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...nodes.values()].map((each) => each.stop()));
      await removeFolder(folder);
    },
  };
}
