/**
 * How long the answers of a source keep a server from everything else, and how much memory they take: a real server for each
 * hostile answer, `GET /healthz` all the while, from a thread of its own, and the delay of the event loop as the server itself
 * measures it. The first line is a server without other requests, and shows what the machine alone does.
 */
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { temporaryFolder } from './lib/folders.mjs';
import { exchange, modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { processFile, startServer } from './lib/processes.mjs';
import { mib, ms, progress, report, table, whole } from './lib/report.mjs';
import { gitCases } from './stalls/git.mjs';
import { startHostile } from './stalls/hostile.mjs';
import { otherCases } from './stalls/others.mjs';
import { sqlCases } from './stalls/sql.mjs';
import { storeCases } from './stalls/store.mjs';
import { upstreamCases } from './stalls/upstream.mjs';
import { webCases } from './stalls/web.mjs';

const how = options('stalls', 'The longest stall and the most memory, for each source and each hostile answer.', {
  only: { type: 'string', help: 'cases whose name has this in it, as in "git:" or "deep"' },
  limit: { type: 'number', default: 100, help: 'longer turns are marked, in milliseconds' },
  patience: { type: 'number', default: 60_000, help: 'how long one request may take, in milliseconds' },
});

/** How long the server without other requests is watched, in milliseconds. */
const BASELINE_MS = 3_000;

const hostile = await startHostile();
/** Functions that make cases, by the beginning of the cases' names: some take long to be made. */
const makers = [
  [['OpenAPI', 'feed', 'page'], webCases],
  [['S3 list'], storeCases],
  [['upstream over HTTP', 'upstream over stdio'], upstreamCases],
  [['SQLite'], sqlCases],
  [['git'], gitCases],
  [['prompt', 'file', 'command'], otherCases],
];
const only = how.only ?? '';
const cases = [];
for (const [sources, make] of makers) {
  if (only.includes(':') && !sources.includes(only.split(':', 1)[0])) continue;
  cases.push(...(await make(hostile)).filter(({ name }) => name.includes(only)));
}

const baseline = { name: 'nothing, for comparison', mounts: { files: temporaryFolder() }, ask: [], forMs: BASELINE_MS };
const results = [];
for (const each of [baseline, ...cases]) {
  progress(each.name);
  results.push(await measure(each));
}
progress('');
await hostile.close();

/** @param {{name: string, mounts: object, more?: object, env?: Record<string, string>, bytes?: number, open?: () => void, forMs?: number, ask: readonly (readonly [string, object])[]}} what */
async function measure({ name, mounts, more = {}, env = {}, bytes, open, ask, forMs = 50 }) {
  const folder = temporaryFolder();
  const config = join(folder, 'vitrine.json');
  const delays = join(folder, 'delays.json');
  writeFileSync(config, JSON.stringify({ mounts, ...more }));
  Object.assign(process.env, env, { STALLS_FILE: delays });
  open?.();
  const args = ['--import', processFile('watched-loop'), how.cli, 'serve', '--config', config];
  const server = await startServer([...args, '--http', '127.0.0.1:0', '--log-level', 'silent'], { core: undefined });
  const health = new Worker(processFile('asking-health'), {
    workerData: { url: `${new URL('/healthz', server.url)}` },
  });
  try {
    await exchange(server.url, modern('tools/list'));
    await pause(100);
    clearPeak(server.pid);
    await delaysOf(server.pid, delays);
    await longestOf(health);
    const before = Date.now();
    const outcomes = [];
    for (const [method, params] of ask) outcomes.push(await outcomeOf(server.url, method, params));
    const tookMs = Date.now() - before;
    await pause(forMs);
    const stallMs = await longestOf(health);
    const { delayMs, turnMs = stallMs } = await delaysOf(server.pid, delays);
    const peakBytes = peakOf(server.pid);
    return { name, bytes, tookMs, stallMs, delayMs, turnMs, peakBytes, outcome: outcomes.join(', ') };
  } finally {
    await health.terminate();
    await server.stop();
  }
}

async function outcomeOf(url, method, params) {
  const sent = exchange(url, modern(method, params));
  const late = pause(how.patience, undefined, { ref: false });
  const answer = await Promise.race([sent, late]);
  sent.catch(() => {});
  if (answer === undefined) return 'no answer';
  const { result, error } =
    JSON.parse(/** @type {string} */ (/^(?:data: )?(\{.*)$/m.exec(answer.body)?.[1] ?? 'null')) ?? {};
  const missing = result?._meta?.['vitrine/missing'] === undefined ? '' : ' (missing)';
  return error === undefined ? `ok${missing}` : (error.data?.reason ?? `${error.code}`);
}

/** How long the longest answer took since this was asked last, in milliseconds. */
async function longestOf(health) {
  const answer = once(health, 'message');
  health.postMessage('');
  const [longest] = await answer;
  return longest;
}

/** Gives the delays that the server has measured since it was asked last. */
async function delaysOf(pid, file) {
  writeFileSync(file, '');
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    await pause(5);
    const text = readFileSync(file, 'utf8');
    if (text.endsWith('\n')) return JSON.parse(text);
  }
}

/** Resets the peak of a process's memory, which Linux records. */
function clearPeak(pid) {
  if (existsSync(`/proc/${pid}/clear_refs`)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function peakOf(pid) {
  if (!existsSync(`/proc/${pid}/status`)) return undefined;
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return kib === undefined ? undefined : Number(kib) * 1_024;
}

/** A machine that is busy with other things delays everything; what the server does takes a processor. */
const isOver = ({ turnMs }) => turnMs > how.limit;
const over = results.filter(isOver);
report(
  how,
  { results },
  `${cases.length} answers, ${over.length} of them with a turn of more than ${how.limit} ms\n\n${table(
    ['source: answer', 'bytes', 'took', 'longest turn', 'longest /healthz', 'longest delay', 'peak', 'outcome'],
    results.map((each) => [
      `${isOver(each) ? '! ' : ''}${each.name}`,
      each.bytes === undefined ? '' : whole(each.bytes),
      `${whole(each.tookMs)} ms`,
      ms(each.turnMs),
      ms(each.stallMs),
      ms(each.delayMs),
      mib(each.peakBytes),
      each.outcome,
    ]),
  )}`,
);
process.exitCode = over.length > 0 ? 1 : 0;
