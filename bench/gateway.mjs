/**
 * Measures gateways: the latency of one request at a time, and the throughput with several in flight, of the same read and the
 * same call, to a server directly, through Vitrine, and through gateways of other makers. One command, one run, interleaved.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prose, temporaryFolder } from './lib/folders.mjs';
import { call, INITIALIZE, INITIALIZED, legacy, modern, openSession } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import {
  freePort,
  onCore,
  placement,
  processFile,
  runJob,
  SERVER_CORE,
  startListening,
  startServer,
  UPSTREAM_CORE,
} from './lib/processes.mjs';
import { ms, progress, report, table, times, whole } from './lib/report.mjs';
import { median, medianDifference, medianRatio } from './lib/stats.mjs';
import { isInstalled, RIVALS } from './rivals/index.mjs';

const how = options('gateway', 'Latency and throughput through gateways, beside direct access to the same server.', {
  rounds: { type: 'number', default: 9, quick: 1, help: 'measurements of each, interleaved; medians are shown' },
  connections: { type: 'number', default: 16, help: 'requests in flight where throughput is measured' },
  ours: { type: 'boolean', default: false, help: 'leave out the gateways of other makers' },
});
/** About how many seconds one measurement takes. Short ones that alternate meet the same disturbances. */
const SECONDS = how.quick ? 0.2 : 0.5;
/**
 * The most requests that warm a target up before its first measurement; and those that warm a program up, which is started anew
 * for each measurement.
 */
const WARM_UP = how.quick ? 300 : 4_000;
const WARM_UP_STDIO = how.quick ? 300 : 3_000;

const TEXT = prose(1_024);
const MESSAGE = 'noon';
const UPSTREAM = processFile('upstream');
/** The command line of the upstream, as a gateway starts it. */
const [command = '', ...args] = onCore([process.execPath, UPSTREAM, 'stdio'], UPSTREAM_CORE);

/** The requests, by the names that the target has for things, and the answers that have to come back. */
const CASES = [
  {
    name: 'read of 1 KiB',
    method: 'resources/read',
    params: (names) => ({ uri: names.uri }),
    isRight: (result) => result.contents[0].text === TEXT,
  },
  {
    name: 'call of a tool',
    method: 'tools/call',
    params: (names) => ({ name: names.tool, arguments: { message: MESSAGE } }),
    isRight: (result) => result.content[0].text === MESSAGE,
  },
];

const stops = [];
/** @param {Promise<import('./lib/processes.mjs').RunningServer>} starting */
async function running(starting) {
  const server = await starting;
  stops.push(server.stop);
  return server;
}
/** @param {object} target */
async function vitrine(target) {
  const file = join(temporaryFolder(), 'vitrine.json');
  writeFileSync(file, JSON.stringify({ mounts: { upstream: { ...target, prefix: 'none' } } }));
  return running(startServer([how.cli, 'serve', '--config', file, '--http', '0']));
}
const sessionsOf = (url) => new URL('/sessions', url).href;

progress('starting');
// Direct access has a server of its own, on the core that a gateway would have.
const direct = await running(startServer([UPSTREAM, 'http']));
const behind = await running(startServer([UPSTREAM, 'http'], { core: UPSTREAM_CORE }));
const overStdio = await vitrine({ command, args });
const overHttp = await vitrine({ url: behind.url });
const overSessions = await vitrine({ url: sessionsOf(behind.url) });
const stdio = { args: [UPSTREAM, 'stdio'], core: SERVER_CORE };

/**
 * The targets: how each is reached, and in which era. `to` names the direct access that it is compared with: to the same
 * upstream, over the upstream's own transport, in the era of the client or, over HTTP, of the upstream.
 */
const targets = [
  { name: 'direct, stdio, 2026', era: 'modern', stdio },
  { name: 'direct, stdio, 2025', era: 'legacy', stdio: { ...stdio, before: [INITIALIZE, INITIALIZED] } },
  { name: 'direct, HTTP, 2026', era: 'modern', ...direct },
  { name: 'direct, HTTP, 2025', era: 'legacy', ...direct, url: sessionsOf(direct.url) },
  { name: 'Vitrine: 2026 to stdio', era: 'modern', ...overStdio, to: 'direct, stdio, 2026' },
  { name: 'Vitrine: 2025 to stdio', era: 'legacy', ...overStdio, to: 'direct, stdio, 2025' },
  { name: 'Vitrine: 2026 to HTTP 2026', era: 'modern', ...overHttp, to: 'direct, HTTP, 2026' },
  { name: 'Vitrine: 2025 to HTTP 2026', era: 'legacy', ...overHttp, to: 'direct, HTTP, 2026' },
  { name: 'Vitrine: 2026 to HTTP 2025', era: 'modern', ...overSessions, to: 'direct, HTTP, 2025' },
  { name: 'Vitrine: 2025 to HTTP 2025', era: 'legacy', ...overSessions, to: 'direct, HTTP, 2025' },
  ...(await rivals()),
];
const asked = [];
for (const target of targets) asked.push(await prepare(target));

/** @type {{one: any, many: any}[][][]} by case, target and round */
const measured = CASES.map(() => targets.map(() => []));
/** @type {{one: number, many: number}[][]} by case and target: requests of one measurement */
const counts = CASES.map(() => targets.map(() => ({ one: 0, many: 0 })));
// The first time warms each up, and shows how fast it is.
for (let round = -1; round < how.rounds; round++) {
  for (const [at, { name }] of CASES.entries()) {
    for (const [index, target] of targets.entries()) {
      progress(`round ${round + 1} of ${how.rounds}: ${name}, ${target.name}`);
      const count = counts[at][index];
      if (round < 0) {
        const { seconds } = await load(at, index, how.connections, 50);
        await load(at, index, how.connections, Math.min(WARM_UP, Math.ceil((50 / seconds) * SECONDS * 5)));
        count.many = countOf((await load(at, index, how.connections, 200)).perSecond);
        count.one = countOf((await load(at, index, 1, 50)).perSecond);
        continue;
      }
      const one = await load(at, index, 1, count.one);
      measured[at][index].push({ one, many: await load(at, index, how.connections, count.many) });
    }
  }
}
progress('');
// Gateways before the server behind them.
for (const stop of stops.reverse()) await stop();

const results = CASES.map(({ name }, at) => ({
  name,
  targets: targets.map((target, index) => {
    const pick = (of, kind, field) => measured[at][of].map((each) => each[kind][field]);
    const own = (kind, field) => median(pick(index, kind, field));
    const to = targets.findIndex((each) => each.name === target.to);
    const numbers = {
      name: target.name,
      p50: own('one', 'p50'),
      p99: own('one', 'p99'),
      perSecond: own('many', 'perSecond'),
      cpuMicros: own('many', 'cpuMicros'),
    };
    if (to === -1) return numbers;
    const added = (field) => medianDifference(pick(index, 'one', field), pick(to, 'one', field));
    const throughput = medianRatio(pick(index, 'many', 'perSecond'), pick(to, 'many', 'perSecond'));
    return { ...numbers, to: target.to, addedP50: added('p50'), addedP99: added('p99'), throughput };
  }),
}));

const text = results.map(({ name, targets: each }) => {
  const rows = each.map((row) => [
    row.name,
    ms(row.p50),
    ms(row.p99),
    'to' in row ? ms(row.addedP50) : '',
    'to' in row ? ms(row.addedP99) : '',
    whole(row.perSecond),
    'to' in row ? times(row.throughput) : '',
    Number.isNaN(row.cpuMicros) ? 'n/a' : `${whole(row.cpuMicros)} us`,
  ]);
  const head = [name, 'p50', 'p99', 'p50 added', 'p99 added', 'requests/s', 'to direct', 'processor time'];
  return table(head, rows);
});
const { rounds, connections } = how;
report(
  how,
  { rounds, connections, placement, results },
  `${rounds} rounds; one request at a time for p50 and p99, ${connections} for requests/s; ${placement}

Added, and "to direct": beside the same server over its own transport, in the era of the client or, over HTTP, of the
server. Processor time is that of the gateway alone, or of the server where it is reached directly.

${text.join('\n\n')}`,
);

/** Gateways of other makers in the one set-up that all of them have: a server over stdio, HTTP in front, 2025. */
async function rivals() {
  const found = [];
  for (const rival of how.ours ? [] : RIVALS) {
    if (!isInstalled(rival)) {
      console.error(`${rival.name} is left out: node scripts/install-interop.mjs rivals installs it`);
      continue;
    }
    const start = rival.start({ command, args }, { port: await freePort() });
    if (start?.url === undefined) continue;
    const server = await running(startListening([start.command, ...start.args], start.url, start.env));
    found.push({ name: `${rival.name} ${rival.version}`, era: 'legacy', ...server, to: 'direct, stdio, 2025' });
  }
  return found;
}

/**
 * Returns the request to a target for each case. Over HTTP it sends each once, and checks the answer.
 * @param {any} target
 */
async function prepare({ name, era, url, stdio: program }) {
  // Over stdio there is nothing between, so the names are those of the upstream itself.
  if (program !== undefined) {
    const names = { uri: 'bench:///clock.md', tool: 'echo' };
    const make = era === 'modern' ? modern : (method, params) => legacy('', method, params);
    return CASES.map(({ method, params }) => ({ message: make(method, params(names)).message, stdio: program }));
  }
  const session = era === 'modern' ? '' : await openSession(url);
  const make = era === 'modern' ? modern : (method, params) => legacy(session, method, params);
  const { resources } = await call(url, make('resources/list'));
  const { tools } = await call(url, make('tools/list'));
  const names = {
    uri: resources.find((each) => each.uri.endsWith('clock.md'))?.uri,
    tool: tools.find((each) => each.name.endsWith('echo'))?.name,
  };
  const requests = [];
  for (const each of CASES) {
    const request = make(each.method, each.params(names));
    const result = await call(url, request);
    if (!each.isRight(result)) throw new Error(`${name}: ${each.name}: ${JSON.stringify(result)}`);
    requests.push({ ...request, url });
  }
  return requests;
}

/**
 * @param {number} at the case
 * @param {number} index the target
 * @param {number} inFlight
 * @param {number} requests
 */
function load(at, index, inFlight, requests) {
  const job = asked[index][at];
  const warmUp = 'stdio' in job ? { warmUp: WARM_UP_STDIO } : {};
  return runJob('load', { ...job, ...warmUp, pid: targets[index].pid, connections: inFlight, requests });
}

/** @param {number} perSecond */
function countOf(perSecond) {
  return Math.max(20, Math.ceil(perSecond * SECONDS));
}
