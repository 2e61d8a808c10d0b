/**
 * One file, many subscribers: after one edit, how long until the first, the median and the last of them is told.
 * Each subscriber is a `subscriptions/listen` stream of its own over HTTP; all are held by this process.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configuration, temporaryFolder } from './lib/folders.mjs';
import { subscribe } from './lib/listening.mjs';
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
const URI = 'file:///watched.md';

const folder = temporaryFolder();
const file = join(folder, 'watched.md');
writeFileSync(file, 'edit 0\n');
const config = configuration(folder, { maxStreams: how.subscribers });
const server = await startServer([how.cli, 'serve', '--config', config, '--http', '0']);
const idle = memoryOf(server.pid).now;

const opening = performance.now();
const subscribers = await subscribe([server.url], how.subscribers, URI);
const openSeconds = (performance.now() - opening) / 1_000;
const listening = memoryOf(server.pid).now;

const edits = [];
for (let edit = 1; edit <= how.edits; edit++) {
  progress(`edit ${edit} of ${how.edits}`);
  const latencies = await subscribers.edit(file, `edit ${edit}\n`);
  edits.push({ first: quantile(latencies, 0), median: median(latencies), last: quantile(latencies, 1) });
}
progress('');
subscribers.close();
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
