/**
 * One file, many subscribers: after one edit, how long until the first, the median and the last of them is told.
 * Each subscriber is a `subscriptions/listen` stream of its own over HTTP; all are held by this process.
 */
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { configuration, temporaryFolder } from './lib/folders.mjs';
import { modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { startServer } from './lib/processes.mjs';
import { mib, ms, progress, report, table, whole } from './lib/report.mjs';
import { median, quantile } from './lib/stats.mjs';
import { memoryOf } from './lib/system.mjs';

const how = options('updates', 'Time from an edit until every subscriber is told.', {
  subscribers: {
    type: 'number',
    default: 10_000,
    quick: 100,
    help: 'streams that listen; each takes a file descriptor',
  },
  edits: { type: 'number', default: 9, quick: 3, help: 'edits, one after the other; medians are shown' },
});
/** Streams that are opened at the same time. */
const OPENING = 50;
const TOLD_WITHIN_MS = 60_000;
const URI = 'file:///watched.md';

const folder = temporaryFolder();
const file = join(folder, 'watched.md');
writeFileSync(file, 'edit 0\n');
const config = configuration(folder, { maxStreams: how.subscribers });
const server = await startServer([how.cli, 'serve', '--config', config, '--http', '0']);
const idle = memoryOf(server.pid).now;

/** Called with the index of a subscriber for each update that it is told of. */
let told = (_subscriber) => {};
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const opening = performance.now();
const streams = [];
while (streams.length < how.subscribers) {
  progress(`${streams.length} of ${how.subscribers} listen`);
  const count = Math.min(OPENING, how.subscribers - streams.length);
  streams.push(...(await Promise.all(Array.from({ length: count }, (_, index) => listen(streams.length + index)))));
}
const openSeconds = (performance.now() - opening) / 1_000;
const listening = memoryOf(server.pid).now;

const edits = [];
for (let edit = 1; edit <= how.edits; edit++) {
  progress(`edit ${edit} of ${how.edits}`);
  const latencies = await editAndWait(edit);
  edits.push({ first: quantile(latencies, 0), median: median(latencies), last: quantile(latencies, 1) });
}
progress('');
for (const stream of streams) stream.destroy();
agent.destroy();
await server.stop();

const over = (field) => median(edits.map((edit) => edit[field]));
const results = { first: over('first'), median: over('median'), last: over('last') };
const slowest = quantile(
  edits.map((edit) => edit.last),
  1,
);
report(
  how,
  { subscribers: how.subscribers, edits: how.edits, openSeconds, memory: { idle, listening }, slowest, ...results },
  `${whole(how.subscribers)} subscribers, ${how.edits} edits; opened in ${openSeconds.toFixed(1)} s\n\n${table(
    ['from the edit until told', 'time'],
    [
      ['the first subscriber', ms(results.first)],
      ['the median one', ms(results.median)],
      ['the last one', ms(results.last)],
      ['the last one, slowest edit', ms(slowest)],
    ],
  )}\n\nResident memory of the server: ${mib(idle)} idle, ${mib(listening)} with all streams`,
);

/**
 * Opens one stream, and resolves when the server has acknowledged it.
 * @param {number} subscriber
 * @returns {Promise<import('node:http').ClientRequest>}
 */
function listen(subscriber) {
  const { headers, message } = modern('subscriptions/listen', { notifications: { resourceSubscriptions: [URI] } });
  return new Promise((resolve, reject) => {
    const sent = request(server.url, { method: 'POST', headers, agent }, (answer) => {
      let rest = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => {
        rest += chunk;
        const events = rest.split('\n\n');
        rest = events.pop() ?? '';
        for (const event of events) {
          if (event.includes('notifications/resources/updated')) told(subscriber);
          else if (event.includes(URI)) resolve(sent);
          else if (event.includes('"error"')) reject(new Error(event));
        }
      });
      answer.once('error', () => {});
      answer.once('end', () => reject(new Error(`the stream ended: ${rest}`)));
    });
    sent.once('error', reject);
    sent.end(JSON.stringify(message));
  });
}

/**
 * Edits the file, and gives each subscriber's milliseconds until it was told.
 * @param {number} edit
 * @returns {Promise<Float64Array>}
 */
async function editAndWait(edit) {
  // Later than the updates of the edit before can be told of, so that none is counted for the other.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const latencies = new Float64Array(how.subscribers);
  let waiting = how.subscribers;
  await new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`${waiting} of ${how.subscribers} were not told within ${TOLD_WITHIN_MS} ms`)),
      TOLD_WITHIN_MS,
    );
    const start = performance.now();
    told = (subscriber) => {
      if (latencies[subscriber] > 0) return;
      latencies[subscriber] = performance.now() - start;
      if (--waiting > 0) return;
      clearTimeout(late);
      resolve(undefined);
    };
    writeFileSync(file, `edit ${edit}\n`);
  });
  return latencies;
}
