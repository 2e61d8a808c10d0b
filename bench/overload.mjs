/**
 * How long accepted and refused requests take at the capacity of a server, at twice and at four times that. Each request
 * works for a while in a tool. A client sends its next request at once after an answer, and `--pause` milliseconds after a
 * refusal, by default sooner than the server asks. One command, one run, interleaved.
 */
import { options } from './lib/options.mjs';
import { placement, processFile, runJob, startServer } from './lib/processes.mjs';
import { ms, progress, report, table, times, whole } from './lib/report.mjs';
import { median } from './lib/stats.mjs';

const how = options('overload', 'Latency of accepted and refused requests at 1, 2 and 4 times the capacity.', {
  rounds: { type: 'number', default: 10, quick: 1, help: 'measurements of each, interleaved; medians are shown' },
  capacity: { type: 'number', default: 16, help: 'requests that may run at a time (limits.maxConcurrent)' },
  seconds: { type: 'number', default: 2, quick: 1, help: 'how long one measurement takes' },
  pause: { type: 'number', default: 100, help: 'how long a client waits after a refusal, in milliseconds' },
});
const { rounds, capacity } = how;
/** How long the work of a request takes, in milliseconds: time, and next to no processor. */
const WORK_MS = 20;
const LOADS = [1, 2, 4];

const library = new URL('../index.js', `file://${how.cli}`).href;
const server = await startServer([processFile('slow-server'), JSON.stringify({ library, capacity, workMs: WORK_MS })]);
/** @type {any[][]} by load and round */
const measured = LOADS.map(() => []);
for (let round = -1; round < rounds; round++) {
  for (const [at, load] of LOADS.entries()) {
    progress(`round ${round + 1} of ${rounds}: ${load} x`);
    const result = await runJob('overload', {
      url: server.url,
      clients: capacity * load,
      seconds: round < 0 ? 1 : how.seconds,
      pauseMs: how.pause,
    });
    // The first time warms the server up.
    if (round >= 0) measured[at].push(result);
  }
}
progress('');
await server.stop();

const results = LOADS.map((load, at) => {
  const over = (what, field) => median(measured[at].map((each) => each[what][field]).filter((value) => value !== null));
  const kind = (what) => Object.fromEntries(['perSecond', 'p50', 'p99'].map((field) => [field, over(what, field)]));
  return { load, accepted: kind('accepted'), refused: kind('refused') };
});
const [unloaded] = results;
const none = (value, show) => (Number.isNaN(value) ? '' : show(value));
report(
  how,
  { rounds, capacity, workMs: WORK_MS, placement, results },
  `${rounds} rounds; ${capacity} requests at a time, each of ${WORK_MS} ms; ${placement}\n\n${table(
    ['clients', 'accepted/s', 'p50', 'p99', 'p50 to 1 x', 'refused/s', 'p50', 'p99'],
    results.map(({ load, accepted, refused }) => [
      `${load} x`,
      whole(accepted.perSecond),
      ms(accepted.p50),
      ms(accepted.p99),
      times(accepted.p50 / unloaded.accepted.p50),
      whole(refused.perSecond),
      none(refused.p50, ms),
      none(refused.p99, ms),
    ]),
  )}`,
);
