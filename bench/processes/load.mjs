/**
 * The load generator: sends one request over several keep-alive connections, each as soon as it has its answer.
 *
 * Argument, in JSON: `{url, headers, message, connections, requests}`, and the `pid` of the server. Instead of `url` and
 * `headers`, `stdio: {args, core, before}` starts a server that is loaded over its standard streams. `warmUp` requests
 * are not counted; one for each connection unless it is given. Prints `{seconds, perSecond, p50, p99, bytes, cpuMicros}`
 * in JSON: latencies in milliseconds, and the server's processor time for one request in microseconds, where the system
 * tells.
 */
import { rawConnection } from '../lib/raw-connection.mjs';
import { rawStdio } from '../lib/raw-stdio.mjs';
import { quantile } from '../lib/stats.mjs';
import { cpuSecondsOf } from '../lib/system.mjs';

const job = JSON.parse(process.argv[2]);

// Ids differ between connections: a session takes an id once at a time. They have three digits, for equal sizes.
const messages = Array.from({ length: job.connections }, (_, index) => ({ ...job.message, id: 100 + index }));
const started =
  job.stdio === undefined ? undefined : await rawStdio(job.stdio.args, job.stdio.core, job.stdio.before ?? []);
const connections =
  started === undefined
    ? await Promise.all(
        messages.map((each) => rawConnection(job.url, { headers: job.headers, body: JSON.stringify(each) })),
      )
    : messages.map(started.connection);
const pid = started?.pid ?? job.pid;

// One each at least, so that no connection is being opened while it is measured.
await run(job.warmUp ?? job.connections);
const before = cpuSecondsOf(pid);
const measured = await run(job.requests);
const after = cpuSecondsOf(pid);
for (const connection of connections) connection.close();
await started?.stop();

const cpuMicros = before === undefined || after === undefined ? undefined : ((after - before) / job.requests) * 1e6;
process.stdout.write(JSON.stringify({ ...measured, cpuMicros }));

/** @param {number} count */
async function run(count) {
  const latencies = new Float64Array(count);
  let next = 0;
  let bytes = 0;
  const start = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      while (next < count) {
        const at = next++;
        const sent = performance.now();
        bytes = await connection.send();
        latencies[at] = performance.now() - sent;
      }
    }),
  );
  const seconds = (performance.now() - start) / 1_000;
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(latencies, share));
  return { seconds, perSecond: count / seconds, p50, p99, bytes };
}
