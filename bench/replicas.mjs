/**
 * Many processes: what two workers carry beside one process, what the bus between replicas adds to a message, how soon many
 * subscribers over three replicas are told of an edit, and what idle sessions of 2025 take of Redis.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { redisBus } from '../dist/index.js';
import { configuration, prose, temporaryFolder } from './lib/folders.mjs';
import { subscribe } from './lib/listening.mjs';
import { modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { CLIENT_CORE, runJob, SERVER_CORE, startServer } from './lib/processes.mjs';
import { mib, ms, progress, report, table, times, whole } from './lib/report.mjs';
import { missingProgram, startRedis } from './lib/services.mjs';
import { median, quantile } from './lib/stats.mjs';
import { childrenOf, cpuSecondsOf } from './lib/system.mjs';

const how = options('replicas', 'Workers and replicas: what they carry, and what they cost.', {
  rounds: { type: 'number', default: 8, quick: 2, help: 'turns of one process and of two workers' },
  requests: { type: 'number', default: 20_000, quick: 300, help: 'reads of each turn' },
  messages: { type: 'number', default: 1_000, quick: 50, help: 'messages over the bus, one after the other' },
  subscribers: { type: 'number', default: 10_000, quick: 60, help: 'streams over three replicas' },
  edits: { type: 'number', default: 7, quick: 2, help: 'edits that they are told of' },
  sessions: { type: 'number', default: 100_000, quick: 1_000, help: 'idle sessions of 2025 with one subscription' },
});
const REPLICAS = 3;
const WORKERS = 2;
const CONNECTIONS = 64;
const DAY_MS = 86_400_000;
const URI = 'file:///watched.md';
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

const missing = missingProgram(['redis-server']);
if (missing !== undefined) throw new Error(`${missing}: node scripts/install-services.mjs installs it`);

const folder = temporaryFolder();
const file = join(folder, 'watched.md');
writeFileSync(file, prose(1_024));

/** Processor time of a process and those that it has started, in seconds. */
const cpuOf = (pid) =>
  [pid, ...(childrenOf(pid) ?? []).map(Number)].reduce((sum, each) => sum + (cpuSecondsOf(each) ?? 0), 0);

const results = { workers: await workers() };
const redis = await startRedis();
try {
  const keys = [randomBytes(32)];
  results.bus = await bus(keys);
  results.told = await told(keys);
  results.sessions = await sessions(keys);
} finally {
  await redis.stop();
}
progress('');
const { alone, one, two, carried, byProcessor } = results.workers;
report(
  how,
  results,
  `Reads of 1 KiB, ${CONNECTIONS} connections\n\n${table(
    ['', 'requests a second', 'processor time of a request'],
    [
      ['one process, the generator on another core', whole(alone.perSecond), `${whole(alone.cpuMicros)} us`],
      ['one process and the generator on one core', whole(one.perSecond), `${whole(one.cpuMicros)} us`],
      [`${WORKERS} workers, their parent and the generator on two`, whole(two.perSecond), `${whole(two.cpuMicros)} us`],
      ['two cores to one', times(carried), times(byProcessor)],
    ],
  )}\n\n${REPLICAS} replicas over one Redis\n\n${table(
    ['', ''],
    [
      ['a message from one replica to another, p50', ms(results.bus.p50)],
      ['p99', ms(results.bus.p99)],
      [`an edit until the last of ${whole(how.subscribers)} subscribers is told`, ms(results.told.last)],
      ['the median one', ms(results.told.median)],
      [`${whole(how.sessions)} idle sessions with a subscription, in Redis`, mib(results.sessions.bytes)],
      ['one of them', `${whole(results.sessions.bytes / how.sessions)} bytes`],
    ],
  )}`,
);

/**
 * The servers all run at the same time, and are loaded in turn. The first, a single process, has a core of its own. The second, a
 * single process, shares a core with the generator. The workers share two cores with it, so they have twice what the second has.
 */
async function workers() {
  const config = configuration(folder, {});
  const serve = (core, ...more) =>
    startServer([how.cli, 'serve', '--config', config, '--http', '0', ...more], { core });
  const places = [
    { server: await serve(SERVER_CORE), loads: CLIENT_CORE },
    { server: await serve(CLIENT_CORE), loads: CLIENT_CORE },
    { server: await serve(undefined, '--workers', `${WORKERS}`), loads: undefined },
  ];
  const { headers, message } = modern('resources/read', { uri: URI });
  /** @type {{perSecond: number, cpuMicros: number}[][]} */
  const turns = places.map(() => []);
  try {
    for (let round = 0; round <= how.rounds; round++) {
      progress(`turn ${round} of ${how.rounds}`);
      for (const [at, { server, loads }] of places.entries()) {
        const before = cpuOf(server.pid);
        const job = { url: server.url, headers, message, connections: CONNECTIONS, requests: how.requests };
        const { perSecond } = await runJob('load', job, { core: loads });
        const cpuMicros = ((cpuOf(server.pid) - before) / (how.requests + CONNECTIONS)) * 1e6;
        // The first turn warms up.
        if (round > 0) turns[at]?.push({ perSecond, cpuMicros });
      }
    }
  } finally {
    for (const { server } of places) await server.stop();
  }
  const over = (at, field) => median(turns[at].map((turn) => turn[field]));
  const ratio = (field) => median(turns[1].map((turn, round) => turns[2][round][field] / turn[field]));
  const of = (at) => ({ perSecond: over(at, 'perSecond'), cpuMicros: over(at, 'cpuMicros') });
  return {
    ...{ alone: of(0), one: of(1), two: of(2) },
    ...{ carried: ratio('perSecond'), byProcessor: WORKERS / ratio('cpuMicros') },
  };
}

/** Time from one end of the bus to another, both in this process. */
async function bus(keys) {
  const ends = [
    await redisBus({ url: redis.url, keys, log: SILENT }),
    await redisBus({ url: redis.url, keys, log: SILENT }),
  ];
  const taken = [];
  try {
    for (let at = 0; at < how.messages; at++) {
      const start = performance.now();
      await new Promise((resolve) => {
        const forget = ends[1].listen('bench', () => {
          forget();
          resolve(undefined);
        });
        ends[0].publish('bench', at);
      });
      taken.push(performance.now() - start);
    }
  } finally {
    await Promise.all(ends.map((end) => end.close()));
  }
  return { p50: median(taken), p99: quantile(taken, 0.99) };
}

/** Measures the time from an edit until all subscribers are told. Their streams are spread over the replicas. */
async function told(keys) {
  const config = join(temporaryFolder(), 'vitrine.json');
  const mounts = { bench: { path: folder, prefix: 'none' } };
  const limits = { maxStreams: how.subscribers };
  const key = keys.map((each) => Buffer.from(each).toString('base64'));
  writeFileSync(config, JSON.stringify({ limits, mounts, keys: key, bus: redis.url }), { mode: 0o600 });
  const replicas = [];
  try {
    for (let at = 0; at < REPLICAS; at++)
      replicas.push(await startServer([how.cli, 'serve', '--config', config, '--http', '0'], {}));
    const subscribers = await subscribe(
      replicas.map(({ url }) => url),
      how.subscribers,
      URI,
    );
    const edits = [];
    for (let edit = 1; edit <= how.edits; edit++) {
      progress(`edit ${edit} of ${how.edits}`);
      const latencies = await subscribers.edit(file, `edit ${edit}\n`);
      edits.push({ median: median(latencies), last: quantile(latencies, 1) });
    }
    subscribers.close();
    return { median: median(edits.map((each) => each.median)), last: median(edits.map((each) => each.last)) };
  } finally {
    for (const replica of replicas) await replica.stop();
  }
}

/** Counts the bytes that Redis takes for the keys of such sessions. A replica has nothing of them. */
async function sessions(keys) {
  const client = await createClient({ url: redis.url }).connect();
  const used = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
  const end = await redisBus({ url: redis.url, keys, log: SILENT });
  try {
    await client.flushAll();
    const before = await used();
    const AT_ONCE = 1_000;
    for (let at = 0; at < how.sessions; at += AT_ONCE) {
      progress(`${at} of ${how.sessions} sessions`);
      const some = Array.from({ length: Math.min(AT_ONCE, how.sessions - at) }, () => `session:${randomUUID()}`);
      await Promise.all(some.map((session) => end.memory.put(session, `uri ${URI}`, '', DAY_MS)));
    }
    return { bytes: (await used()) - before };
  } finally {
    await end.close();
    await client.close();
  }
}
