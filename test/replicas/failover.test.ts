/** The bus over Redis Sentinel and over a Redis cluster, whose servers are killed and replaced while it is in use. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bus } from '../../src/core/bus.ts';
import type { RedisAddress } from '../../src/core/bus-address.ts';
import { type Log, SILENT } from '../../src/core/context.ts';
import { redisBus } from '../../src/serving/bus/redis/index.ts';
import { temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { until } from '../e2e/waiting.ts';
import { redis, startRedis } from '../services/redis.ts';
import { ask } from '../services/redis-asking.ts';
import { startCluster } from '../services/redis-cluster.ts';
import { MASTER_NAME, startSentinels } from '../services/redis-sentinel.ts';
import { describeWith } from '../services/service.ts';
import { connectInTurn } from './in-turn.ts';
import { startVitrine } from './processes.ts';

const KEYS = [new Uint8Array(32).fill(1)];

/** A key of the bus. */
const KEY = '{vitrine}:bus';

const NOTE = 'docs+file:///note.txt';
const OTHER = 'docs+file:///other.txt';

/** Longer than any test, in seconds. */
const LONG = 600;

/** Servers of which one is the master of the bus, and any other one can take over. */
interface Group extends AsyncDisposable {
  readonly address: RedisAddress;
  master(): Promise<string>;
  killMaster(): Promise<void>;
  handOver(): Promise<void>;
}

async function clusterGroup(): Promise<Group> {
  const cluster = await startCluster();
  return {
    address: cluster.address,
    master: () => cluster.masterOf(KEY),
    killMaster: () => cluster.killMasterOf(KEY),
    handOver: () => cluster.handOver(KEY),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

/** Opens buses, and closes them at the end. */
function buses(address: RedisAddress) {
  const opened: Bus[] = [];
  /** Opens a bus that need not be connected yet. */
  async function attempt(log: Log): Promise<Bus> {
    const bus = await redisBus({ ...address, keys: KEYS, log });
    opened.push(bus);
    return bus;
  }
  return {
    attempt,
    /** Opens a bus and waits until it is connected, however busy the machine is. */
    async open(): Promise<Bus> {
      const bus = await attempt(SILENT);
      await until(() => bus.whole, 'the bus to be there');
      return bus;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((each) => each.close()));
    },
  };
}

/** The versions that a replica has read. It reads a resource again at each change, and all when it may have missed one. */
function follow(bus: Bus, truth: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const seen = new Map<string, number>();
  const read = (uri: string): void => void seen.set(uri, truth.get(uri) ?? 0);
  bus.listen('changed', (uri) => read(String(uri)));
  bus.onMended(() => {
    for (const uri of truth.keys()) read(uri);
  });
  return seen;
}

/** Waits until a replica of the master has all of the master's data. */
async function replicated(url: string): Promise<void> {
  type Role = readonly [string, number, readonly string[][]];
  const [, offset] = (await ask(url, ['ROLE'])) as Role;
  await until(async () => {
    const [, , replicas] = (await ask(url, ['ROLE'])) as Role;
    return replicas.length > 0 && replicas.every(([, , each]) => Number(each) >= offset);
  }, 'the replicas to have everything');
}

/** Resolves when the log gives this sentence as the reason why a bus is away. */
async function away(address: RedisAddress, sentence: RegExp): Promise<void> {
  const reasons: string[] = [];
  await using all = buses(address);
  const bus = await all.attempt({
    ...SILENT,
    warn: (_, facts = {}) => void reasons.push((facts.error as Error).message),
  });
  expect(bus.whole).toBe(false);
  await until(() => reasons.some((each) => sentence.test(each)), `${sentence} in the log`);
}

interface Forwarder extends AsyncDisposable {
  readonly url: string;
  /** Forwards new connections to another server from now on. Existing ones stay. */
  lead(url: string): void;
  /** Breaks all connections. */
  cut(): void;
}

/** Makes an address that leads to one server, and later to another one, like a service of Kubernetes. */
async function forwardTo(url: string): Promise<Forwarder> {
  let target = new URL(url);
  const sockets = new Set<Socket>();
  const cut = (): void => {
    for (const each of sockets) each.destroy();
    sockets.clear();
  };
  const server = createServer((incoming) => {
    const outgoing = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from.on('error', () => {}).on('close', () => to.destroy()));
      from.pipe(to);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = new URL(url);
  own.port = String((server.address() as AddressInfo).port);
  return {
    url: own.href,
    lead(next) {
      target = new URL(next);
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

for (const [name, start] of [
  ['sentinels', startSentinels],
  ['a cluster', clusterGroup],
] as const)
  describeWith([redis])(`a bus over ${name}`, () => {
    let group: Group;
    beforeAll(async () => {
      group = await start();
    }, 120_000);
    afterAll(() => group[Symbol.asyncDispose]());

    it('stores, counts and publishes for all replicas', async () => {
      await using all = buses(group.address);
      const [one, other] = [await all.open(), await all.open()];
      expect(await one.memory.put('k', 'a', '1', 60_000)).toBe(1);
      expect(await other.memory.put('k', 'b', '2', 60_000)).toBe(2);
      await one.memory.remove('k', 'a');
      expect([...(await other.memory.all('k'))]).toEqual([['b', '2']]);
      await other.memory.replace('k', 'c', '3', 60_000);
      expect([...(await one.memory.all('k'))]).toEqual([['c', '3']]);
      const rate = { most: 5, seconds: LONG };
      expect((await one.memory.take('contract', 3, rate)).got).toBe(3);
      expect((await other.memory.take('contract', 3, rate)).got).toBe(2);
      const heard = new Promise((resolve) => void other.listen('topic', resolve));
      one.publish('topic', { uri: 'file:///diary.txt' });
      expect(await heard).toEqual({ uri: 'file:///diary.txt' });
      expect(await ask(await group.master(), ['TYPE', '{vitrine}:k'])).toBe('hash');
    });

    it('joins replicas; a client hears of every change while the master is handed over', async () => {
      await using folder = await temporaryFolder({ 'docs/note.txt': 'one', 'docs/other.txt': 'one' });
      const config = { keys: [randomBytes(32).toString('base64')], bus: group.address, mounts: { docs: './docs' } };
      const args = ['--config', await writeConfig(folder, config), '--http', '0'];
      await using one = await startVitrine(args);
      await using two = await startVitrine(args);
      const replicas = [one, two];
      await using client = await connectInTurn(() => replicas.map(({ port }) => `http://127.0.0.1:${port}/mcp`));
      await client.request('resources/subscribe', { uri: NOTE });
      await until(() => client.holder !== undefined, 'the stream');
      for (const step of ['before', 'after']) {
        const before = client.updates.get(NOTE) ?? 0;
        await folder.write('docs/note.txt', step);
        await client.told(NOTE, before);
        if (step === 'after') break;
        const told = client.updates.get(NOTE) ?? 0;
        await group.handOver();
        await client.told(NOTE, told);
        await until(() => replicas.every((each) => each.errors().includes('there again')), 'both replicas to be back');
      }
      // On a busy machine, the master may be handed over once more.
      const subscribe = (): Promise<boolean> =>
        client.request('resources/subscribe', { uri: OTHER }).then(
          () => true,
          () => false,
        );
      await until(subscribe, 'a subscription that is kept');
      const before = client.updates.get(OTHER) ?? 0;
      await folder.write('docs/other.txt', 'two');
      await client.told(OTHER, before);
      for (const each of replicas) {
        expect(each.errors()).toContain('the bus is away');
        for (const password of ['glass case', 'glass%20case', 'glass%case', 'watchman'])
          expect(each.errors()).not.toContain(password);
      }
    });

    it('loses nothing and counts nothing twice when the master is handed over and when it is killed', async () => {
      await using all = buses(group.address);
      const truth = new Map<string, number>();
      const replicas = [await all.open(), await all.open(), await all.open()];
      const seen = replicas.map((each) => follow(each, truth));
      const mended = replicas.map(() => 0);
      for (const [at, each] of replicas.entries())
        each.onMended(() => {
          mended[at] = (mended[at] ?? 0) + 1;
        });
      const rate = { most: 60, seconds: LONG };
      let got = 0;
      /** @returns whether the bus was there */
      const take = async (bus: Bus): Promise<boolean> => {
        const share = await bus.memory.take('failover', 1, rate).catch(() => undefined);
        got += share?.got ?? 0;
        return share !== undefined;
      };
      let changes = 0;
      let isOver = false;
      let isQuiet = false;
      /** Each replica changes something and uses the rate, again and again. */
      const work = replicas.map(async (bus, at) => {
        while (!isOver) {
          const uri = `file:///${at}/${++changes % 10}`;
          truth.set(uri, changes);
          bus.publish('changed', uri);
          if (!isQuiet) await take(bus);
          await pause(20);
        }
      });
      const isWhole = (): boolean => replicas.every((each) => each.whole) && mended.every((each) => each > 0);
      await until(() => got > 20, 'some of the rate');

      // A master that sentinels replace goes on counting for a moment, and that count is lost: nothing is taken meanwhile.
      isQuiet = true;
      await replicated(await group.master());
      await group.handOver();
      await until(isWhole, 'the bus to be there after the master was handed over');
      await replicated(await group.master());
      mended.fill(0);
      await group.killMaster();
      isQuiet = false;
      await until(() => replicas.every((each) => !each.whole) || isWhole(), 'the bus to be away');
      await until(isWhole, 'the bus to be there after the master was killed');
      isOver = true;
      await Promise.all(work);
      const one = await all.open();
      await until(async () => {
        const before = got;
        return (await take(one)) && got === before;
      }, 'the end of the rate');
      const expected = [...truth].sort();
      for (const [at, each] of seen.entries()) {
        const others = expected.filter(([uri]) => !uri.startsWith(`file:///${at}/`));
        await until(() => others.every(([uri, version]) => each.get(uri) === version), 'the last of the changes');
      }
      expect(got).toBeLessThanOrEqual(rate.most);
      // Each of the three replicas may have taken parts of the rate whose answers were lost.
      expect(got).toBeGreaterThanOrEqual(rate.most - 12);
    });

    it('reports a loss when a single connection breaks', async () => {
      await using all = buses(group.address);
      const [one, other] = [await all.open(), await all.open()];
      for (const type of ['pubsub', 'normal']) {
        let mended = 0;
        const stop = one.onMended(() => void mended++);
        await ask(await group.master(), ['CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes']);
        await until(() => mended > 0 && one.whole && other.whole, 'the connection to be back');
        stop();
      }
      const heard = new Promise((resolve) => void one.listen('topic', resolve));
      other.publish('topic', 'hello');
      expect(await heard).toBe('hello');
    });
  });

describeWith([redis])('a bus behind a name that leads to another server', () => {
  it('tells a replica that it missed messages which another one still sent to the former server', async () => {
    await using old = await startRedis();
    await using next = await startRedis();
    await using here = await forwardTo(old.url);
    await using there = await forwardTo(old.url);
    await using speakers = buses({ url: here.url });
    await using hearers = buses({ url: there.url });
    const [speaker, hearer] = [await speakers.open(), await hearers.open()];
    let mended = 0;
    hearer.onMended(() => void mended++);
    let heard = 0;
    hearer.listen('topic', () => void heard++);
    speaker.publish('topic', 1);
    await until(() => heard === 1, 'the first message');

    for (const each of [here, there]) each.lead(next.url);
    there.cut();
    await until(() => mended === 1 && hearer.whole, 'the one to be at the next server');
    speaker.publish('topic', 2);
    await until(() => speaker.state().sent === 2, 'a message that nobody hears');
    here.cut();
    await until(() => mended === 2, 'the one to be told that it has missed something');
    expect(heard).toBe(1);

    await until(() => speaker.whole, 'the other one to be there');
    const before = speaker.state().mended;
    here.cut();
    await until(() => speaker.whole && speaker.state().mended > before, 'the other one to be back');
    speaker.publish('topic', 3);
    await until(() => heard === 2, 'a message that is heard');
    // Nothing was lost this time.
    expect(mended).toBe(2);
  });
});

describeWith([redis])('a bus that cannot be reached', () => {
  it('names the answer of a sentinel as the reason', async () => {
    await using group = await startSentinels();
    const { address } = group;
    const strangers = address.sentinels.map((url) => url.replace(/:[^:@]*@/, ':wrong@'));
    await Promise.all([
      away({ ...address, master: 'other' }, /^The sentinels know no master with the name other$/),
      away({ ...address, password: 'wrong' }, /^The server at 127\.0\.0\.1:\d+ refuses the user or the password/),
      away({ ...address, sentinels: strangers }, /^The sentinel at 127\.0\.0\.1:\d+ refuses the user or the password/),
      away(
        { ...address, sentinels: ['redis://127.0.0.1:1'] },
        /^None of the sentinels answers: 127\.0\.0\.1:1 \(.*ECONNREFUSED/,
      ),
    ]);
  });

  it('works when the sentinels come back', async () => {
    await using group = await startSentinels();
    await group.killSentinels();
    await using all = buses(group.address);
    const bus = await all.attempt(SILENT);
    expect(bus.whole).toBe(false);
    await expect(bus.memory.put('k', 'f', 't', 1_000)).rejects.toMatchObject({ code: 'unavailable' });
    await group.startSentinels();
    await until(() => bus.whole, 'the bus to be there');
    expect(await bus.memory.put('k', 'f', 't', 1_000)).toBe(1);
  });

  it('names the answer of a cluster as the reason', async () => {
    await using server = await startRedis();
    const { host, password } = new URL(server.url);
    await Promise.all([
      away(
        { cluster: [server.url] },
        /^The server at 127\.0\.0\.1:\d+ is not in a cluster: give its address as bus\.url, not as bus\.cluster$/,
      ),
      away({ cluster: [`redis://${host}`] }, /^The node at 127\.0\.0\.1:\d+ refuses the user or the password/),
      away(
        { cluster: [`redis://:${password}@127.0.0.1:1`] },
        /^None of the nodes of the cluster answers: 127\.0\.0\.1:1 \(.*ECONNREFUSED/,
      ),
    ]);
  });

  it.each([
    [{ cluster: ['redis://a:b@one', 'redis://c:d@two'] }, 'The bus has addresses with different users'],
    [{ cluster: ['redis://one/1'] }, 'The bus has nothing behind its host: a cluster has one database'],
    [{ sentinels: [], master: MASTER_NAME }, 'The bus names no server'],
    [{ sentinels: ['redis://one/1'], master: MASTER_NAME }, 'The bus has nothing behind its host: bus.database'],
  ])('refuses %j', async (address, words) => {
    await expect(redisBus({ ...address, keys: KEYS, log: SILENT })).rejects.toThrow(words);
  });
});
