/**
 * Measures the memory that a server needs for an idle session of 2025-11-25 and for an open stream of 2026-07-28. The rivals
 * are sessions of a bare SDK server, and answers that bare Node holds open. Each number is of a server of its own. With
 * `--upstreams` it measures what idle programs cost a gateway, and how long lists over all of them take beside lists over one.
 */
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { configuration, temporaryFolder } from './lib/folders.mjs';
import { modern, openSession } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { processFile, startServer } from './lib/processes.mjs';
import { mib, ms, progress, report, table, times, whole } from './lib/report.mjs';
import { memoryOf } from './lib/system.mjs';
import { measureUpstreams } from './lib/upstreams.mjs';

const how = options('idle', 'Memory of an idle session and of an open stream.', {
  count: {
    type: 'number',
    default: 4_000,
    quick: 400,
    help: 'sessions or streams; each stream takes a file descriptor',
  },
  upstreams: {
    type: 'number',
    help: 'measures so many idle programs behind a gateway instead: memory, processes, lists over all beside one',
  },
  ttl: { type: 'number', default: 0, help: 'how long the answers of those programs may be kept, in milliseconds' },
  rounds: { type: 'number', default: 9, quick: 1, help: 'measurements of those lists; medians are shown' },
});
if (how.upstreams !== undefined) {
  await reportUpstreams();
  process.exit();
}
/**
 * How many are opened before anything is measured: code that runs for the first time takes memory of its own, and the heap
 * grows by what later is garbage.
 */
const FIRST = how.quick ? 200 : 2_000;
/** How many are opened at the same time. */
const OPENING = 20;

const folder = temporaryFolder();
writeFileSync(join(folder, 'watched.md'), 'watched\n');
const URI = 'file:///watched.md';
const limit = how.count + FIRST + OPENING;
const config = configuration(folder, { maxSessions: limit, maxStreams: limit });
const fixture = join(temporaryFolder(), 'fixture.json');
writeFileSync(fixture, JSON.stringify({ results: { read: {}, list: {} }, answers: {} }));
const vitrine = [how.cli, 'serve', '--config', config, '--http', '0'];

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const sessions = {
  vitrine: await measure('sessions of Vitrine', vitrine, openSession),
  sdk: await measure('sessions of the SDK', [processFile('sdk-http'), fixture], (url) =>
    openSession(new URL('/sessions', url).href),
  ),
};
const streams = {
  vitrine: await measure('streams of Vitrine', vitrine, (url) => hold(url, listening())),
  node: await measure('answers of Node', [processFile('node-http'), fixture], (url) =>
    hold(new URL('/held', url).href, listening()),
  ),
};
agent.destroy();

const kib = (bytes) => (bytes === undefined ? 'n/a' : `${(bytes / 1024).toFixed(1)} KiB`);
report(
  how,
  { count: how.count, sessions, streams },
  `${whole(how.count)} of each\n\n${table(
    ['resident memory of one', 'Vitrine', 'bare SDK', 'bare Node'],
    [
      ['an idle session, 2025-11-25', kib(sessions.vitrine), kib(sessions.sdk), ''],
      ['an open stream, 2026-07-28', kib(streams.vitrine), '', kib(streams.node)],
    ],
  )}`,
);

async function reportUpstreams() {
  const measured = await measureUpstreams(how.cli, how.upstreams, how.rounds, how.ttl);
  const { processes, bytesEach, lists } = measured;
  const rows = lists.map(({ method, one, many, ratio }) => [method, ms(one), ms(many), times(ratio)]);
  report(
    how,
    { upstreams: measured },
    `${whole(how.upstreams)} idle programs beside one: ${mib(bytesEach)} of resident memory each; ${processes ?? 'n/a'} processes in all

${table(['first page', 'over one', 'over all', 'to one'], rows)}`,
  );
}

function listening() {
  return modern('subscriptions/listen', { notifications: { resourceSubscriptions: [URI] } });
}

/**
 * Opens many sessions or streams on a server of their own. Returns the bytes of memory that one of them takes.
 * @param {string} what
 * @param {readonly string[]} args of the server
 * @param {(url: string) => Promise<unknown>} open
 */
async function measure(what, args, open) {
  const server = await startServer(args);
  const openMany = async (/** @type {number} */ count) => {
    for (let at = 0; at < count; at += OPENING) {
      progress(`${what}: ${at} of ${count}`);
      await Promise.all(Array.from({ length: OPENING }, () => open(server.url)));
    }
  };
  try {
    await openMany(FIRST);
    const before = memoryOf(server.pid).now;
    await openMany(how.count);
    const after = memoryOf(server.pid).now;
    return before === undefined || after === undefined ? undefined : (after - before) / how.count;
  } finally {
    await server.stop();
    progress('');
  }
}

/**
 * Requests an answer that does not end, and resolves when it has begun.
 * @param {string} url
 * @param {import('./lib/mcp.mjs').McpRequest} mcp
 */
function hold(url, { headers, message }) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent }, (answer) => {
      answer.once('data', (chunk) =>
        `${chunk}`.includes('"error"') ? reject(new Error(`${chunk}`)) : resolve(undefined),
      );
      answer.on('error', () => {});
    });
    sent.once('error', reject);
    sent.end(JSON.stringify(message));
  });
}
