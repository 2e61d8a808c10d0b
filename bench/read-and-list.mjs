/**
 * The same 1 KiB read, by method and by tool, and the same list of 100 entries, from Vitrine with a folder and its guards up,
 * from bare servers of the TypeScript SDK, the Go SDK and the Rust SDK that have them in memory, and from bare Node HTTP that
 * sends the same bytes. One command, one run, interleaved. The servers in Go and Rust run only if
 * `node scripts/install-interop.mjs rivals` has built them.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prose, temporaryFolder } from './lib/folders.mjs';
import { audited, tenRules, twoRates } from './lib/guards.mjs';
import { exchange, legacy, modern, openSession } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { placement, processFile, runJob, startServer, startServing } from './lib/processes.mjs';
import { ms, progress, report, table, times, whole } from './lib/report.mjs';
import { median, medianRatio } from './lib/stats.mjs';

const how = options(
  'read-and-list',
  'Requests a second of reads, calls and lists: Vitrine, a bare SDK server, bare Node.',
  {
    rounds: { type: 'number', default: 15, quick: 1, help: 'measurements of each, interleaved; medians are shown' },
    requests: { type: 'number', help: 'requests of one measurement (as many as take about 1 s)' },
    connections: { type: 'number', default: 16, help: 'keep-alive connections, each with one request at a time' },
    plain: { type: 'boolean', default: false, help: 'Vitrine without its ten access rules, its audit and its rates' },
  },
);
const ENTRIES = 100;
/** Requests that are not counted, for each server and case. */
const WARM_UP = how.quick ? 500 : 5_000;
/** About how many seconds one measurement takes. Short ones that alternate meet the same disturbances. */
const SECONDS = how.quick ? 0.3 : 1;
const TEXT = prose(1_024);
const URI = 'file:///clock-000.md';

/** The requests. The one of the 2025 era is completed with a session of each server. */
const CASES = [
  { name: 'read 1 KiB, 2026-07-28', path: '/read', make: () => modern('resources/read', { uri: URI }) },
  {
    name: 'call of the `read` tool',
    path: '/call',
    make: () => modern('tools/call', { name: 'read', arguments: { uri: URI } }),
  },
  { name: 'list 100, 2026-07-28', path: '/list', make: () => modern('resources/list') },
  { name: 'list 100 of a folder (uri)', path: '/children', make: () => modern('resources/list', { uri: 'file:///' }) },
  {
    name: 'read 1 KiB, 2025-11-25',
    path: '/legacy',
    make: (session) => legacy(session, 'resources/read', { uri: URI }),
  },
];

const folder = temporaryFolder();
for (let index = 0; index < ENTRIES; index++) {
  writeFileSync(join(folder, `clock-${String(index).padStart(3, '0')}.md`), TEXT);
}

const config = join(temporaryFolder(), 'vitrine.json');
const guards = how.plain ? {} : { ...tenRules(), ...audited(), ...twoRates() };
writeFileSync(config, JSON.stringify({ ...guards, mounts: { bench: { path: folder, prefix: 'none' } } }));
const vitrine = await startServer([how.cli, 'serve', '--config', config, '--http', '0']);
const fixture = join(temporaryFolder(), 'fixture.json');
writeFileSync(fixture, JSON.stringify(await answersOf(vitrine.url)));
const sdk = await startServer([processFile('sdk-http'), fixture]);
const node = await startServer([processFile('node-http'), fixture]);

/** Servers in other languages, by the folder of each. */
const LANGUAGES = { go: 'Go', rust: 'Rust' };
/** @type {Record<string, Awaited<ReturnType<typeof startServing>>>} */
const built = {};
for (const [name, language] of Object.entries(LANGUAGES)) {
  const program = fileURLToPath(new URL(`rivals/${name}/.built/server`, import.meta.url));
  if (existsSync(program)) built[name] = await startServing([program, fixture]);
  else console.error(`${language} is left out: node scripts/install-interop.mjs rivals builds its server`);
}

/** The address of a server's endpoint for sessions of 2025. @param {string} url */
const sessionsOf = (url) => new URL('/sessions', url).href;
const sessions = { vitrine: await openSession(vitrine.url), sdk: await openSession(sessionsOf(sdk.url)), node: 'none' };
const targets = [
  { name: 'vitrine', pid: vitrine.pid, url: () => vitrine.url },
  { name: 'sdk', pid: sdk.pid, url: (path) => (path === '/legacy' ? sessionsOf(sdk.url) : sdk.url) },
  { name: 'node', pid: node.pid, url: (path) => new URL(path, node.url).href },
];
for (const [name, { pid, url }] of Object.entries(built)) {
  sessions[name] = await openSession(sessionsOf(url));
  targets.push({ name, pid, url: (path) => (path === '/legacy' ? sessionsOf(url) : url) });
}
const others = targets.slice(1).map((target) => target.name);

/** @type {any[][][]} by case, target and round */
const measured = CASES.map(() => targets.map(() => []));
/** @type {number[][]} by case and target: the number of requests of one measurement */
const requests = CASES.map(() => targets.map(() => how.requests));
// The first time warms each server up, and shows how fast it is.
for (let round = -1; round < how.rounds; round++) {
  for (const [at, { name, path, make }] of CASES.entries()) {
    for (const [index, target] of targets.entries()) {
      progress(`round ${round + 1} of ${how.rounds}: ${name}, ${target.name}`);
      const result = await runJob('load', {
        ...make(sessions[target.name]),
        url: target.url(path),
        pid: target.pid,
        connections: how.connections,
        requests: round < 0 ? WARM_UP : requests[at][index],
      });
      if (round < 0) requests[at][index] ??= Math.ceil(result.perSecond * SECONDS);
      else measured[at][index].push(result);
    }
  }
}
progress('');
await Promise.all([vitrine, sdk, node, ...Object.values(built)].map((server) => server.stop()));

const results = CASES.map(({ name }, at) => {
  const pick = (index, field) => measured[at][index].map((measurement) => measurement[field]);
  return {
    name,
    targets: Object.fromEntries(
      targets.map((target, index) => [
        target.name,
        Object.fromEntries(
          ['perSecond', 'p50', 'p99', 'cpuMicros', 'bytes'].map((field) => [field, median(pick(index, field))]),
        ),
      ]),
    ),
    ratios: toOthers((index) => medianRatio(pick(0, 'perSecond'), pick(index, 'perSecond'))),
    /** Of processor time, which other work on the machine disturbs less. */
    cpuRatios: toOthers((index) => medianRatio(pick(index, 'cpuMicros'), pick(0, 'cpuMicros'))),
  };
});

const LABELS = { vitrine: 'Vitrine', sdk: 'bare SDK', node: 'bare Node', go: 'bare Go SDK', rust: 'bare Rust SDK' };
const details = table(
  ['', 'requests/s', 'p50', 'p99', 'processor time', 'bytes'],
  results.flatMap(({ name, targets: each }) =>
    Object.entries(each).map(([target, { perSecond, p50, p99, cpuMicros, bytes }]) => [
      `${name}: ${LABELS[target]}`,
      whole(perSecond),
      ms(p50),
      ms(p99),
      Number.isNaN(cpuMicros) ? 'n/a' : `${whole(cpuMicros)} us`,
      whole(bytes),
    ]),
  ),
);
const ratios = table(
  ['Vitrine to', ...others.map((other) => LABELS[other]), ...others.map((other) => `${LABELS[other]}, by processor`)],
  results.map(({ name, ratios: rate, cpuRatios }) => [
    name,
    ...others.map((other) => times(rate[other])),
    ...others.map((other) => times(cpuRatios[other])),
  ]),
);
const { rounds, connections } = how;
const guarded = how.plain ? 'without rules, audit and rates' : 'with ten access rules, an audit and rates';
report(
  how,
  { rounds, connections, placement, plain: how.plain, results },
  `${rounds} rounds, ${connections} connections; ${placement}; Vitrine ${guarded}\n\n${details}\n\nRequests per second as ratios, the median over the rounds:\n\n${ratios}`,
);

/**
 * Vitrine's ratio to each of the others.
 * @param {(index: number) => number} ratio by the place among the targets
 */
function toOthers(ratio) {
  return Object.fromEntries(others.map((name, at) => [name, ratio(at + 1)]));
}

/**
 * Takes the answers of Vitrine, so that the others send the same: results for the SDK server, bytes for bare Node.
 * @param {string} url
 */
async function answersOf(url) {
  const session = await openSession(url);
  const answers = {};
  const results = {};
  for (const { path, make } of CASES) {
    const { status, headers, body } = await exchange(url, make(session));
    if (status !== 200) throw new Error(`${path}: ${body}`);
    answers[path] = { contentType: headers['content-type'], body };
    if (!body.startsWith('{')) continue;
    // The SDK adds these by itself.
    const { _meta, resultType, ...result } = JSON.parse(body).result;
    results[path] = result;
  }
  const [item] = results['/read'].contents;
  if (item.text !== TEXT) throw new Error('the read has not the text of the file');
  for (const path of ['/list', '/children']) {
    if (results[path].resources.length !== ENTRIES) throw new Error(`${path} has not ${ENTRIES} entries`);
  }
  return { answers, results: { read: results['/read'], list: results['/children'], call: results['/call'] } };
}
