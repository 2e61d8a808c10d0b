/**
 * The load generator for differences that are small: sends to several servers in many short turns, one after the other,
 * so that whatever else the machine does meets all of them. Connections stay open in between.
 *
 * Argument, in JSON: `{targets: [{url, pid, headers, message}], connections, requests, rounds, warmUp}`, with `requests`
 * of one turn, and `warmUp` requests of each that are not counted. Prints, for each target, its turns as
 * `{perSecond, p50, p99, cpuMicros}`: latencies in milliseconds, and the server's processor time for one request in
 * microseconds, with what it did between this turn and its next one.
 */
import { rawConnection } from '../lib/raw-connection.mjs';
import { quantile } from '../lib/stats.mjs';
import { cpuSecondsOf } from '../lib/system.mjs';

const { targets, connections: wanted, requests, rounds, warmUp } = JSON.parse(process.argv[2]);

const opened = await Promise.all(
  targets.map(({ url, headers, message }) =>
    Promise.all(
      Array.from({ length: wanted }, (_, index) =>
        rawConnection(url, { headers, body: JSON.stringify({ ...message, id: 100 + index }) }),
      ),
    ),
  ),
);
// In turns, too: a server ends connections that are idle for seconds.
for (let sent = 0; sent < warmUp; sent += requests) for (const connections of opened) await run(connections, requests);

/** @type {any[][]} by target and round */
const measured = targets.map(() => []);
/** @type {number[][]} the processor time of each target at the beginning of its turns, and at the end */
const clocks = targets.map(() => []);
for (let round = 0; round < rounds; round++) {
  for (let turn = 0; turn < targets.length; turn++) {
    // Each round begins with another one, so that none always follows the same.
    const at = (round + turn) % targets.length;
    clocks[at].push(cpuSecondsOf(targets[at].pid) ?? Number.NaN);
    measured[at].push(await run(opened[at], requests));
  }
}
for (const [at, { pid }] of targets.entries()) clocks[at].push(cpuSecondsOf(pid) ?? Number.NaN);
for (const connection of opened.flat()) connection.close();

const turns = measured.map((results, at) =>
  results.map((result, round) => ({
    ...result,
    cpuMicros: ((clocks[at][round + 1] - clocks[at][round]) / requests) * 1e6,
  })),
);
process.stdout.write(JSON.stringify(turns));

/**
 * @param {readonly {send(): Promise<number>}[]} connections
 * @param {number} count
 */
async function run(connections, count) {
  const latencies = new Float64Array(count);
  let next = 0;
  const start = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      while (next < count) {
        const at = next++;
        const sent = performance.now();
        await connection.send();
        latencies[at] = performance.now() - sent;
      }
    }),
  );
  const seconds = (performance.now() - start) / 1_000;
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(latencies, share));
  return { perSecond: count / seconds, p50, p99 };
}
