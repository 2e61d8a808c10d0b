/**
 * Resident memory of the server: idle, while a large file is read in windows, while the largest whole reads are made one
 * after another and at once, under a load of small reads and lists, and while a large folder is paged through; and whether a
 * late page takes as long as an early one.
 */
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { configuration, prose, temporaryFolder } from './lib/folders.mjs';
import { folderWithFiles, folderWithLargeFile, folderWithText, MIB, markOf, nameOf } from './lib/large.mjs';
import { call, exchange, legacy, modern, openSession } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { startServer } from './lib/processes.mjs';
import { mib, ms, progress, report, table, times, whole } from './lib/report.mjs';
import { median } from './lib/stats.mjs';
import { forgetPeak, memoryOf } from './lib/system.mjs';

const how = options('memory', 'Resident memory of the server, and the cost of early and late pages.', {
  mebibytes: { type: 'number', default: 1_024, quick: 64, help: 'size of the file that is read in windows' },
  dense: { type: 'boolean', default: false, help: 'fill that file with text; otherwise it is sparse, and binary' },
  entries: { type: 'number', default: 200_000, quick: 20_000, help: 'files in the folder that is paged through' },
  seconds: { type: 'number', default: 20, quick: 2, help: 'of the load of small reads and lists' },
  page: { type: 'number', default: 1_000, help: 'entries of a page, at most 1000' },
});
/** The most that is read in one piece by default. */
const WHOLE_BYTES = 7 * MIB;
const WHOLE_READS = 20;
const AT_ONCE = 16;
/** How often `AT_ONCE` whole reads are made at once. */
const ROUNDS = 5;
/** The files and the connections of the load of small reads and lists. */
const SMALL_FILES = 100;
const CONNECTIONS = 32;

const idle = await measure(temporaryFolder(), async () => {});
const windows = await measure(folderWithLargeFile(how.mebibytes, how.dense), readWindows);
const wholes = await measure(folderWithText(WHOLE_BYTES), readWholes);
const binaries = await measure(folderOfWholes('bin'), readAtOnce('bin'));
const texts = await measure(folderOfWholes('txt'), readAtOnce('txt'));
const load = await measure(folderOfSmall(), readAndList);
const paging = await measure(folderWithFiles(how.entries), pageThrough);

const { first, early, late, pages } = paging.facts;
const { mebibytes, dense, entries, page } = how;
report(
  how,
  {
    idle: idle.memory,
    windows: { ...windows.memory, mebibytes, dense },
    wholes: wholes.memory,
    texts: texts.memory,
    binaries: binaries.memory,
    load: { ...load.memory, requests: load.facts },
    paging: { ...paging.memory, entries, page, ...paging.facts },
  },
  `${table(
    ['resident memory of the server', 'at the end', 'at most', 'took'],
    [
      row('idle, after one answer', idle),
      row(`${whole(mebibytes)} MiB of ${dense ? 'text' : 'a sparse file'} in windows of 1 MiB`, windows),
      row(`7 MiB of text in one read, ${WHOLE_READS} times`, wholes),
      row(`${AT_ONCE} reads of 7 MiB of text at once, ${ROUNDS} times`, texts),
      row(`${AT_ONCE} reads of 7 MiB of bytes at once, ${ROUNDS} times`, binaries),
      row(`${whole(load.facts)} small reads and lists of ${SMALL_FILES}, ${CONNECTIONS} at once`, load),
      row(`${whole(entries)} files in pages of ${whole(page)}`, paging),
    ],
  )}\n\n${table(
    [`a page; medians of a tenth of ${whole(pages)} pages`, 'took'],
    [
      ['the first, which sorts all names', ms(first)],
      ['early', ms(early)],
      ['late', ms(late)],
      ['late to early', times(late / early)],
    ],
  )}`,
);

/**
 * @param {string} name
 * @param {{memory: {now: number | undefined, peak: number | undefined}, seconds: number}} measured
 */
function row(name, { memory, seconds }) {
  return [name, mib(memory.now), mib(memory.peak), `${seconds.toFixed(1)} s`];
}

/**
 * Serves a folder in a server of its own, does something with it, and then asks for the server's memory.
 * @template T
 * @param {string} folder
 * @param {(url: string, agent: Agent) => Promise<T>} work
 */
async function measure(folder, work) {
  const config = configuration(folder, { pageSize: how.page });
  const server = await startServer([how.cli, 'serve', '--config', config, '--http', '0']);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  try {
    await call(server.url, modern('server/discover'), agent);
    forgetPeak(server.pid);
    const start = performance.now();
    const facts = await work(server.url, agent);
    return { facts, seconds: (performance.now() - start) / 1_000, memory: memoryOf(server.pid) };
  } finally {
    agent.destroy();
    await server.stop();
    progress('');
  }
}

/**
 * Reads the large file window by window, and checks the size and the place of each.
 * @param {string} url
 * @param {Agent} agent
 */
async function readWindows(url, agent) {
  const uri = `file:///large.${how.dense ? 'txt' : 'bin'}`;
  for (let index = 0; index < how.mebibytes; index++) {
    progress(`reading ${index} MiB`);
    const range = { offset: index * MIB, length: MIB };
    const { contents } = await call(url, modern('resources/read', { uri, _meta: { 'vitrine/range': range } }), agent);
    const [{ text, blob, size }] = contents;
    const bytes = text === undefined ? Buffer.from(blob, 'base64') : Buffer.from(text);
    if (bytes.byteLength !== MIB) throw new Error(`window ${index} has ${bytes.byteLength} bytes`);
    if (!bytes.toString('latin1', 0, 64).startsWith(markOf(index))) throw new Error(`window ${index} is another one`);
    if (size !== how.mebibytes * MIB) throw new Error(`the resource is said to have ${size} bytes`);
  }
}

/**
 * @param {string} url
 * @param {Agent} agent
 */
async function readWholes(url, agent) {
  for (let time = 0; time < WHOLE_READS; time++) {
    progress(`reading 7 MiB for the ${time + 1}. time`);
    const { contents } = await call(url, modern('resources/read', { uri: 'file:///whole.txt' }), agent);
    if (contents[0].text.length !== WHOLE_BYTES) throw new Error('the whole was not read');
  }
}

/** @param {'txt' | 'bin'} type of the files */
function folderOfWholes(type) {
  const folder = temporaryFolder();
  const content = type === 'txt' ? prose(WHOLE_BYTES) : Buffer.alloc(WHOLE_BYTES, 'ab\0\xff', 'latin1');
  for (let index = 0; index < AT_ONCE; index++) writeFileSync(join(folder, `whole-${index}.${type}`), content);
  return folder;
}

/** @param {'txt' | 'bin'} type of the files */
function readAtOnce(type) {
  return async (/** @type {string} */ url, /** @type {Agent} */ agent) => {
    const size = type === 'txt' ? WHOLE_BYTES : 4 * Math.ceil(WHOLE_BYTES / 3);
    for (let round = 0; round < ROUNDS; round++) {
      progress(`${AT_ONCE} reads at once for the ${round + 1}. time`);
      const uris = Array.from({ length: AT_ONCE }, (_, index) => `file:///whole-${index}.${type}`);
      // Not parsed while others are on their way: this process would keep the server waiting.
      const answers = await Promise.all(uris.map((uri) => exchange(url, modern('resources/read', { uri }), agent)));
      for (const { body } of answers)
        if (body.length < size) throw new Error(`the whole was not read: ${body.slice(0, 200)}`);
    }
  };
}

function folderOfSmall() {
  const folder = temporaryFolder();
  for (let index = 0; index < SMALL_FILES; index++) writeFileSync(join(folder, nameOf(index)), prose(1_024));
  return folder;
}

/**
 * Reads and lists in both eras, as fast as they are answered.
 * @param {string} url
 * @param {Agent} agent
 * @returns how many requests there were
 */
async function readAndList(url, agent) {
  progress('reading and listing');
  const session = await openSession(url);
  const until = performance.now() + how.seconds * 1_000;
  let count = 0;
  const asks = [
    () => modern('resources/list'),
    () => modern('resources/list', { uri: 'file:///' }),
    (uri) => modern('resources/read', { uri }),
    (uri) => legacy(session, 'resources/read', { uri }),
  ];
  const one = async (/** @type {number} */ connection) => {
    while (performance.now() < until) {
      const ask = asks[connection % asks.length](`file:///${nameOf(count % SMALL_FILES)}`);
      // A session takes an id once at a time.
      Object.assign(ask.message, { id: ++count });
      const { body } = await exchange(url, ask, agent);
      if (!body.includes('"result":{')) throw new Error(body);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => one(connection)));
  return count;
}

/**
 * Follows the cursors to the end, and checks that every entry comes once and in its place. Then it goes through the
 * first tenth again: the early pages of the first pass would have been served by code that was not yet optimized.
 * @param {string} url
 * @param {Agent} agent
 */
async function pageThrough(url, agent) {
  const { latencies, listed } = await listPages(url, agent, Number.POSITIVE_INFINITY);
  if (listed !== how.entries) throw new Error(`${listed} entries of ${how.entries} were listed`);
  const tenth = Math.max(1, Math.floor(latencies.length / 10));
  const again = await listPages(url, agent, 1 + tenth);
  return {
    pages: latencies.length,
    first: latencies[0],
    early: median(again.latencies.slice(1)),
    late: median(latencies.slice(-tenth)),
  };
}

/**
 * @param {string} url
 * @param {Agent} agent
 * @param {number} limit of pages
 */
async function listPages(url, agent, limit) {
  /** @type {number[]} */
  const latencies = [];
  let listed = 0;
  let cursor;
  do {
    progress(`listing ${listed} of ${how.entries}`);
    const start = performance.now();
    const result = await call(url, modern('resources/list', { uri: 'file:///', ...(cursor && { cursor }) }), agent);
    latencies.push(performance.now() - start);
    for (const { name } of result.resources) {
      if (name !== nameOf(listed)) throw new Error(`${name} came in the place of ${nameOf(listed)}`);
      listed++;
    }
    cursor = result.nextCursor;
  } while (cursor !== undefined && latencies.length < limit);
  return { latencies, listed };
}
