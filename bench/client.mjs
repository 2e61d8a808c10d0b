/**
 * Measures the client library: it walks a tree of 100,000 resources, and reads 10,000 that are kept, with Vitrine's
 * client and with the SDK's bare one, at the same server. One command, one run, interleaved.
 */
import { pathToFileURL } from 'node:url';
import { options } from './lib/options.mjs';
import { placement, processFile, runJob, startServer } from './lib/processes.mjs';
import { report, table, times, whole } from './lib/report.mjs';
import { median, medianRatio } from './lib/stats.mjs';

const how = options('client', "Walks and kept reads of Vitrine's client, beside the SDK's bare client.", {
  rounds: { type: 'number', default: 5, quick: 1, help: 'measurements of each, interleaved; medians are shown' },
  resources: { type: 'number', default: 100_000, quick: 1_000, help: 'resources of the tree, a hundred to a folder' },
  reads: { type: 'number', default: 10_000, quick: 200, help: 'resources of 1 KiB that are read, and kept' },
});
const { rounds, resources, reads } = how;

const server = await startServer([processFile('tree-server'), `${resources}`]);
const library = new URL('../client.js', pathToFileURL(how.cli)).href;
const measured = await runJob('client-turns', { library, url: server.url, resources, reads, rounds });
await server.stop();

const LABELS = {
  bare: 'bare SDK',
  roomy: 'bare SDK, told to keep them all',
  oneByOne: 'Vitrine, one list at a time',
  four: 'Vitrine, as it comes: four at a time',
  ours: 'Vitrine',
};
const CASES = [
  { case: 'walk', what: `walk ${whole(resources)}`, count: resources },
  { case: 'read', what: `read ${whole(reads)} that are kept`, count: reads },
];
const results = CASES.flatMap(({ case: name, what, count }) => {
  const pick = (target, field) => measured[name][target].map((turn) => turn[field]);
  return Object.keys(measured[name]).map((target) => ({
    name: `${what}: ${LABELS[target]}`,
    perSecond: (count / median(pick(target, 'ms'))) * 1_000,
    cpuMicros: (median(pick(target, 'cpuMs')) / count) * 1_000,
    // More than 1 is faster than the bare client.
    ratio: medianRatio(pick('bare', 'ms'), pick(target, 'ms')),
    cpuRatio: medianRatio(pick('bare', 'cpuMs'), pick(target, 'cpuMs')),
  }));
});

const text = table(
  ['', 'resources/s', 'processor time', 'to bare SDK', 'by processor'],
  results.map(({ name, perSecond, cpuMicros, ratio, cpuRatio }) => [
    name,
    whole(perSecond),
    `${cpuMicros.toFixed(cpuMicros < 10 ? 1 : 0)} us`,
    times(ratio),
    times(cpuRatio),
  ]),
);
report(
  how,
  { rounds, resources, reads, placement, results },
  `${rounds} rounds; ${placement}\n\n${text}\n\nProcessor time is that of the client, for one resource. More than 1 x is faster than the bare client.`,
);
