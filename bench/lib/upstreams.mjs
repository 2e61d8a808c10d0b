/** A gateway before programs that do nothing: what each costs it, and how long a list over all of them takes beside one. */
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryFolder } from './folders.mjs';
import { call, modern } from './mcp.mjs';
import { processFile, startServer } from './processes.mjs';
import { progress } from './report.mjs';
import { median, medianRatio } from './stats.mjs';
import { childrenOf, memoryOf } from './system.mjs';

/** How long a gateway is left alone until it is looked at, in milliseconds. */
const REST_MS = 2_000;
/** Lists that warm each up, and those of one turn. */
const WARM_UP = 20;
const LISTS = 10;

/** How long all programs may take until they are there, in milliseconds. */
const STARTING_MS = 120_000;

/** Each program lists one entry for each method: the field of the result, and how the entry's name ends. */
const LISTED = { 'resources/list': ['resources', 'clock.md'], 'tools/list': ['tools', 'echo'] };

/**
 * @param {string} cli
 * @param {number} count of programs
 * @param {number} rounds
 * @param {number} [ttlMs] how long their answers may be kept, in milliseconds
 */
export async function measureUpstreams(cli, count, rounds, ttlMs = 0) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  progress('starting programs behind a gateway');
  const one = await gateway(cli, 1, agent, ttlMs);
  const many = await gateway(cli, count + 1, agent, ttlMs);
  try {
    await pause(REST_MS);
    const [least, most] = [memoryOf(one.pid).now, memoryOf(many.pid).now];
    const lists = [];
    for (const method of Object.keys(LISTED)) {
      /** @type {{one: number[], many: number[]}} */
      const times = { one: [], many: [] };
      for (let round = -1; round < rounds; round++) {
        progress(`${method}: round ${round + 1} of ${rounds}`);
        for (const [name, { url }] of Object.entries({ one, many })) {
          const took = await timed(url, method, round < 0 ? WARM_UP : LISTS, agent);
          if (round >= 0) times[name].push(took);
        }
      }
      lists.push({
        method,
        one: median(times.one),
        many: median(times.many),
        ratio: medianRatio(times.many, times.one),
      });
    }
    return {
      count,
      processes: childrenOf(many.pid)?.length,
      bytesEach: least === undefined || most === undefined ? undefined : (most - least) / count,
      lists,
    };
  } finally {
    agent.destroy();
    await Promise.all([one.stop(), many.stop()]);
    progress('');
  }
}

/**
 * Starts a gateway before so many programs, and waits until each of them is in the lists.
 * @param {string} cli
 * @param {number} count
 * @param {Agent} agent
 * @param {number} ttlMs how long their answers may be kept
 */
async function gateway(cli, count, agent, ttlMs) {
  const program = { command: process.execPath, args: [processFile('upstream'), 'stdio', `${ttlMs}`] };
  const mounts = Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, program]));
  const file = join(temporaryFolder(), 'vitrine.json');
  writeFileSync(file, JSON.stringify({ mounts }));
  const server = await startServer([cli, 'serve', '--config', file, '--http', '0', '--log-level', 'error']);
  const until = performance.now() + STARTING_MS;
  for (const [method, [field = '', end = '']] of Object.entries(LISTED)) {
    for (let there = 0; there < count; ) {
      const listed = (await call(server.url, modern(method), agent))[field];
      there = listed.filter(({ name }) => name.endsWith(end)).length;
      if (performance.now() > until) throw new Error(`${method} has ${there} of ${count} programs`);
      await pause(100);
    }
  }
  return server;
}

/**
 * The median of the milliseconds that so many lists take, one after the other.
 * @param {string} url
 * @param {string} method
 * @param {number} lists
 * @param {Agent} agent
 */
async function timed(url, method, lists, agent) {
  const took = [];
  for (let at = 0; at < lists; at++) {
    const begun = performance.now();
    await call(url, modern(method), agent);
    took.push(performance.now() - begun);
  }
  return median(took);
}
