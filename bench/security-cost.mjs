/**
 * Measures access rules, the audit, rates and tokens: the same 1 KiB read over HTTP (2026-07-28) from servers that have
 * none of them, one of them, and all of them. One command, one run, interleaved.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prose, temporaryFolder } from './lib/folders.mjs';
import { audited, tenRules, twoRates } from './lib/guards.mjs';
import { call, modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { placement, runJob, startServer } from './lib/processes.mjs';
import { ms, progress, report, table, times, whole } from './lib/report.mjs';
import { median, medianDifference, medianRatio } from './lib/stats.mjs';

const how = options('security-cost', 'Reads of 1 KiB with and without access rules, audit, rates and tokens.', {
  launches: { type: 'number', default: 8, quick: 1, help: 'how often each pair of servers is started anew' },
  rounds: {
    type: 'number',
    default: 12,
    quick: 5,
    help: 'how many turns each of the two servers gets in a launch, alternating; medians are shown',
  },
  requests: {
    type: 'number',
    default: 300,
    quick: 50,
    help: 'requests of one turn; in short turns both servers meet the same disturbances',
  },
  connections: { type: 'number', default: 16, help: 'keep-alive connections, each with one request at a time' },
});
/** Requests that are not counted, for each server. */
const WARM_UP = how.quick ? 300 : 4_500;
const TEXT = prose(1_024);
const URI = 'file:///guide/clock.md';
const TOKEN = 'bench-token-0123456789abcdef';
const access = tenRules(['file:///guide/**']);
const limits = twoRates();
const auth = {
  auth: {
    resource: 'https://bench.example/mcp',
    tokens: [{ name: 'bench', hash: createHash('sha256').update(TOKEN).digest('hex') }],
  },
};
/** Tokens must have access rules beside them: this one allows everything. By default a token has a rate, which is off here. */
const open = { access: { rules: [{ effect: 'allow' }] }, limits: { rates: { principal: 'off' } } };

/** The servers that are measured, and the one that each is compared to. */
const SETTINGS = [
  { name: 'none of them', settings: () => ({}) },
  { name: 'access, ten rules', settings: () => access, to: 'none of them' },
  { name: 'audit, to a file', settings: audited, to: 'none of them' },
  { name: 'limits, two rates', settings: () => limits, to: 'none of them' },
  { name: 'all three', settings: () => ({ ...access, ...audited(), ...limits }), to: 'none of them' },
  { name: 'a token', settings: () => ({ ...auth, ...open }), to: 'none of them', token: true },
  {
    name: 'a token and all three',
    settings: () => ({ ...auth, ...access, ...audited(), ...limits }),
    to: 'a token',
    token: true,
  },
];

const folder = temporaryFolder();
mkdirSync(join(folder, 'guide'));
writeFileSync(join(folder, 'guide', 'clock.md'), TEXT);

/**
 * Measures two servers at a time. With more, each turn would begin with processor caches full of other servers' data. How fast
 * just-in-time compiled code runs differs from process to process, so each pair is started several times.
 */
const pairs = SETTINGS.filter(({ to }) => to !== undefined).map((own) => ({
  own,
  other: SETTINGS.find(({ name }) => name === own.to),
  turns: { own: [], other: [] },
}));
for (let launch = 1; launch <= how.launches; launch++) {
  progress(`launch ${launch} of ${how.launches}`);
  for (const { own, other, turns } of pairs) {
    const [ofOther, ofOwn] = await measure([other, own]);
    turns.other.push(...ofOther);
    turns.own.push(...ofOwn);
  }
}
progress('');

async function measure(settings) {
  const targets = [];
  for (const each of settings) targets.push(await start(each));
  const { rounds, requests, connections } = how;
  const measured = await runJob('turns', {
    targets: targets.map(({ server, headers, message }) => ({ url: server.url, pid: server.pid, headers, message })),
    ...{ rounds, requests, connections, warmUp: WARM_UP },
  });
  await Promise.all(targets.map(({ server }) => server.stop()));
  return measured;
}

async function start({ name, settings, token = false }) {
  const file = join(temporaryFolder(), 'vitrine.json');
  writeFileSync(file, JSON.stringify({ ...settings(), mounts: { bench: { path: folder, prefix: 'none' } } }));
  const server = await startServer([how.cli, 'serve', file, '--http', '0']);
  const { headers, message } = modern('resources/read', { uri: URI });
  const request = { headers: { ...headers, ...(token && { Authorization: `Bearer ${TOKEN}` }) }, message };
  const { contents } = await call(server.url, request);
  if (contents[0].text !== TEXT) throw new Error(`${name}: the read has not the text of the file`);
  return { server, ...request };
}

const pick = (turns, field) => turns.map((turn) => turn[field]);
const summary = (turns) =>
  Object.fromEntries(['perSecond', 'p50', 'p99', 'cpuMicros'].map((field) => [field, median(pick(turns, field))]));

const [bare] = SETTINGS;
const results = [
  { name: bare.name, ...summary(pairs.filter(({ other }) => other === bare).flatMap(({ turns }) => turns.other)) },
  ...pairs.map(({ own, turns }) => ({
    name: own.name,
    ...summary(turns.own),
    to: own.to,
    throughput: medianRatio(pick(turns.own, 'perSecond'), pick(turns.other, 'perSecond')),
    /** The processor time that a request takes beyond that of the other server, in microseconds. */
    added: medianDifference(pick(turns.own, 'cpuMicros'), pick(turns.other, 'cpuMicros')),
    /**
     * The ratio of the requests that the same processor time allows. Other work on the machine disturbs it less than
     * `throughput`.
     */
    byProcessor: medianRatio(pick(turns.other, 'cpuMicros'), pick(turns.own, 'cpuMicros')),
  })),
];

const { launches, rounds, requests, connections } = how;
const us = (micros) => (Number.isNaN(micros) ? 'n/a' : `${whole(micros)} us`);
const rows = results.map((each) => [
  each.name,
  whole(each.perSecond),
  ms(each.p50),
  ms(each.p99),
  us(each.cpuMicros),
  'to' in each ? each.to : '',
  'to' in each ? us(each.added) : '',
  'to' in each ? times(each.throughput) : '',
  'to' in each ? times(each.byProcessor) : '',
]);
report(
  how,
  { launches, rounds, requests, connections, placement, results },
  `${launches} launches, ${rounds} rounds of ${requests} requests, ${connections} connections; ${placement}\n\n${table(
    ['read 1 KiB with', 'requests/s', 'p50', 'p99', 'processor time', 'beside', 'adds', 'throughput', 'by processor'],
    rows,
  )}`,
);
