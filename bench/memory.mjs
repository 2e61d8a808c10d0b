/**
 * Resident memory of the server: idle, while a large file is read in windows, while the largest whole reads are made, and
 * while a large folder is paged through; and whether a late page takes as long as an early one.
 */
import { Agent } from 'node:http';
import { configuration, temporaryFolder } from './lib/folders.mjs';
import { folderWithFiles, folderWithLargeFile, folderWithText, MIB, markOf, nameOf } from './lib/large.mjs';
import { call, modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { startServer } from './lib/processes.mjs';
import { mib, ms, progress, report, table, times, whole } from './lib/report.mjs';
import { median } from './lib/stats.mjs';
import { memoryOf } from './lib/system.mjs';

const how = options('memory', 'Resident memory of the server, and the cost of early and late pages.', {
  mebibytes: { type: 'number', default: 1_024, quick: 64, help: 'size of the file that is read in windows' },
  dense: { type: 'boolean', default: false, help: 'fill that file with text; otherwise it is sparse, and binary' },
  entries: { type: 'number', default: 200_000, quick: 20_000, help: 'files in the folder that is paged through' },
  page: { type: 'number', default: 1_000, help: 'entries of a page, at most 1000' },
});
/** The most that is read in one piece by default. */
const WHOLE_BYTES = 7 * MIB;
const WHOLE_READS = 20;

const idle = await measure(temporaryFolder(), async () => {});
const windows = await measure(folderWithLargeFile(how.mebibytes, how.dense), readWindows);
const wholes = await measure(folderWithText(WHOLE_BYTES), readWholes);
const paging = await measure(folderWithFiles(how.entries), pageThrough);

const { first, early, late, pages } = paging.facts;
const { mebibytes, dense, entries, page } = how;
report(
  how,
  {
    idle: idle.memory,
    windows: { ...windows.memory, mebibytes, dense },
    wholes: wholes.memory,
    paging: { ...paging.memory, entries, page, ...paging.facts },
  },
  `${table(
    ['resident memory of the server', 'at the end', 'at most', 'took'],
    [
      row('idle, after one answer', idle),
      row(`${whole(mebibytes)} MiB of ${dense ? 'text' : 'a sparse file'} in windows of 1 MiB`, windows),
      row(`7 MiB of text in one read, ${WHOLE_READS} times`, wholes),
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
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    await call(server.url, modern('server/discover'), agent);
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
 * Reads the large file window by window, and sees to it that each has its size and its place.
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

/**
 * Follows the cursors to the end, and sees to it that every entry came once and in its place. Then it goes through the
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
