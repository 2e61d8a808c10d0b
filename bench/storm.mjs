/**
 * How long a folder's reads and lists take while servers misbehave that are mounted beside it: they flood, hang, lie, send
 * what is malformed and send too much, all at once, over stdio and HTTP, in both eras. Then how long all of it takes to
 * end, and what is left. The load, the servers and the gateway share the machine.
 */
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { call, legacy, modern, openSession } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { freePort, startNode, startServer, stop } from './lib/processes.mjs';
import { mib, ms, progress, report, table, whole } from './lib/report.mjs';
import { quantile } from './lib/stats.mjs';
import { memoryOf } from './lib/system.mjs';

const how = options('storm', 'Latency of good answers while mounted servers misbehave; memory; the time of the end.', {
  seconds: { type: 'number', default: 60, quick: 10, help: 'how long clients ask' },
  pause: { type: 'number', default: 20, help: 'between two requests of a client, in milliseconds' },
  calm: { type: 'boolean', default: false, help: 'without the others, to compare' },
});

const KINDS = ['flood', 'flood-later', 'hang', 'lie', 'malformed', 'enormous'];
/** Over stdio alone: over HTTP there is no standard error, and no line. */
const PROGRAMS = ['flood-both', 'flood-errors', 'flood-line', 'flood-bytes'];
const ERAS = ['legacy', 'modern'];
const SERVER = fileURLToPath(new URL('../test/gateway/storm/server.mjs', import.meta.url));
const MUSEUM = fileURLToPath(new URL('../examples/museum', import.meta.url));
const mark = `storm-${process.pid}-${Date.now()}`;

/** @type {Record<string, unknown>} */
const mounts = { museum: MUSEUM };
/** @type {import('node:child_process').ChildProcess[]} */
const servers = [];
if (!how.calm) {
  for (const kind of PROGRAMS) mounts[kind] = { command: process.execPath, args: [SERVER, kind, '--mark', mark] };
  for (const era of ERAS) {
    for (const kind of KINDS) {
      const args = [SERVER, kind, '--era', era];
      mounts[`${kind}-${era}-stdio`] = {
        callTimeoutSeconds: 5,
        command: process.execPath,
        args: [...args, '--mark', mark],
      };
      const port = await freePort();
      const child = startNode([...args, '--port', `${port}`]);
      servers.push(child);
      await once(child.stdout, 'data');
      mounts[`${kind}-${era}-http`] = { callTimeoutSeconds: 5, url: `http://127.0.0.1:${port}/mcp` };
    }
  }
}
const folder = await mkdtemp(join(tmpdir(), 'vitrine-storm-'));
const config = join(folder, 'storm.json');
await writeFile(config, JSON.stringify({ mounts }));

const starting = performance.now();
const gateway = await startServer([how.cli, 'serve', '--config', config, '--http', '0', '--log-level', 'error'], {
  core: undefined,
});
const startMs = performance.now() - starting;

/** @type {Record<string, number[]>} */
const latencies = { legacy: [], modern: [] };
/** @type {number[]} */
const memory = [];
let others = 0;
const end = performance.now() + how.seconds * 1_000;
const agent = new Agent({ keepAlive: true });
const goesOn = () => performance.now() < end;

/** Reads and lists the museum, and notes how long each answer takes. @param {string} era @param {any} request */
async function visit(era, request) {
  for (let turn = 0; goesOn(); turn++) {
    const before = performance.now();
    if (turn % 2 === 0) {
      const { contents } = await call(
        gateway.url,
        request('resources/read', { uri: 'museum+file:///README.md' }),
        agent,
      );
      if (!contents[0].text.includes('Vitrine Museum')) throw new Error('the museum is not itself');
    } else {
      const { resources } = await call(gateway.url, request('resources/list', { uri: 'museum+file:///' }), agent);
      if (resources.length < 3) throw new Error('the museum is not whole');
    }
    latencies[era].push(performance.now() - before);
    await pause(how.pause);
  }
}

/** Does everything with the other mounts, whatever comes of it. @param {any} request */
async function disturb(request) {
  const names = Object.keys(mounts).filter((name) => name !== 'museum');
  while (goesOn() && names.length > 0) {
    for (const name of names) {
      if (!goesOn()) break;
      const asked = [
        request('resources/read', { uri: `${name}+thing:///one` }),
        request('tools/call', { name: `${name}_say`, arguments: {} }),
        request('tools/list'),
        request('resources/list'),
      ];
      const late = pause(2_000);
      await Promise.race([late, Promise.allSettled(asked.map((each) => call(gateway.url, each, agent)))]);
      others += asked.length;
      await pause(how.pause);
    }
  }
}

async function sample() {
  while (goesOn()) {
    memory.push(memoryOf(gateway.pid).now ?? Number.NaN);
    progress(`${Math.round((end - performance.now()) / 1_000)} s left`);
    await pause(1_000);
  }
}

const session = await openSession(gateway.url);
let id = 1;
/** @param {string} method @param {Record<string, unknown>} [params] */
function inSession(method, params) {
  const { headers, message } = legacy(session, method, params);
  // In a session an id is one request's.
  return { headers, message: { ...message, id: ++id } };
}
await Promise.all([visit('legacy', inSession), visit('modern', modern), disturb(inSession), disturb(modern), sample()]);
progress('');
const { peak } = memoryOf(gateway.pid);
agent.destroy();
const ending = performance.now();
await gateway.stop();
const endMs = performance.now() - ending;
await pause(100);
const left = await leftBehind();
await Promise.all(servers.map(stop));
await rm(folder, { recursive: true });

/** Counts the programs that the gateway has started and that still run. */
async function leftBehind() {
  let found = 0;
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(mark)) found++;
  }
  return found;
}

const quarter = Math.max(1, Math.floor(memory.length / 4));
const over = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const memories = { early: over(memory.slice(quarter, 2 * quarter)), late: over(memory.slice(-quarter)), peak };
const results = Object.fromEntries(
  Object.entries(latencies).map(([era, all]) => [
    era,
    { answers: all.length, p50: quantile(all, 0.5), p99: quantile(all, 0.99), most: Math.max(...all) },
  ]),
);
report(
  how,
  {
    mounts: Object.keys(mounts).length,
    seconds: how.seconds,
    others,
    startMs,
    endMs,
    left,
    memory: memories,
    samples: memory,
    results,
  },
  `${Object.keys(mounts).length - 1} servers that misbehave; ${how.seconds} s; ${others} requests for them\n\n${table(
    ['the museum', 'answers', 'p50', 'p99', 'most'],
    Object.entries(results).map(([era, { answers, p50, p99, most }]) => [
      era,
      whole(answers),
      ms(p50),
      ms(p99),
      ms(most),
    ]),
  )}\n\n${table(
    ['the gateway', ''],
    [
      ['until it listens', ms(startMs)],
      ['memory, second quarter', mib(memories.early)],
      ['memory, last quarter', mib(memories.late)],
      ['memory, most', mib(memories.peak)],
      ['from SIGTERM to the end', ms(endMs)],
      ['programs left', `${left}`],
    ],
  )}`,
);
