/**
 * Measures ranked search over a folder of synthetic documents: how fast its index is made, how long questions take with
 * some in flight, and how long an edit takes until it is found. A server over HTTP, asked through the `search` tool.
 */
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fts5, miniSearch, ripgrep } from './finding/rivals.mjs';
import { temporaryFolder } from './lib/folders.mjs';
import { call, modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { startServer } from './lib/processes.mjs';
import { mib, ms, progress, report, table, whole } from './lib/report.mjs';
import { median, quantile } from './lib/stats.mjs';
import { cpuSecondsOf, memoryOf } from './lib/system.mjs';

const how = options('ranked', 'Ranked search: making the index, questions, and edits until they are found.', {
  documents: { type: 'number', default: 100_000, quick: 500, help: 'documents that are made' },
  words: { type: 'number', default: 300, help: 'words of each' },
  questions: { type: 'number', default: 1_000, quick: 100, help: 'questions of each kind that are asked' },
  inflight: { type: 'number', default: 8, help: 'questions at a time' },
  cache: { type: 'string', default: join(tmpdir(), 'vitrine-bench-finding'), help: 'folder of what is fetched' },
  edits: { type: 'number', default: 10, quick: 3, help: 'edits that are looked for, of documents anywhere among them' },
  ours: { type: 'boolean', default: false, help: 'without the rivals, some of which need all documents in memory' },
});
/** Questions that a rival is asked. */
const RIVAL_QUESTIONS = 60;
const VOCABULARY = 20_000;
/** The bound of the index, in bytes: more than a million documents need. */
const MAX_BYTES = 16 * 1024 ** 3;
const PER_FOLDER = 1_000;

/** Milliseconds until an edit has to be found. */
const FOUND_MS = 60_000;

/** The most frequent words, which tell little of what a text is about. */
const FREQUENT = 100;

/** Gives the same random numbers in each run, and repeats none soon: Marsaglia's xorshift. */
let state = 88_172_645;
function random() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}

/** Returns a random word. The first words are far more frequent than the last, as in any language. */
const word = (first = 1) => `w${Math.floor(first * (VOCABULARY / first) ** random()).toString(36)}`;
const sentence = (count, first = 1) => Array.from({ length: count }, () => word(first)).join(' ');

/** Questions of words that tell what is looked for, and of any words, however frequent. */
const QUESTIONS = [
  { name: 'words that tell', first: FREQUENT },
  { name: 'any words', first: 1 },
];

const folder = temporaryFolder();
const fileOf = (at) => join(folder, `${Math.floor(at / PER_FOLDER)}`, `${at}.md`);
let bytes = 0;
/** @type {{path: string, text: string}[]} */
const documents = [];
for (let at = 0; at < how.documents; at++) {
  if (at % PER_FOLDER === 0) mkdirSync(join(folder, `${at / PER_FOLDER}`));
  const text = `# ${sentence(5)}\n\n${sentence(how.words)}\n`;
  bytes += text.length;
  if (!how.ours) documents.push({ path: `${at}.md`, text });
  writeFileSync(fileOf(at), text);
}
const place = temporaryFolder();
const config = join(place, 'vitrine.json');
const mounts = { bench: { path: folder, prefix: 'none' } };
writeFileSync(config, JSON.stringify({ index: { folder: './index', maxBytes: MAX_BYTES }, mounts }));

const begun = performance.now();
const server = await startServer([how.cli, 'serve', '--config', config, '--http', '0'], {});
const agent = new Agent({ keepAlive: true, maxSockets: how.inflight });

async function search(pattern) {
  const params = { name: 'search', arguments: { pattern, mode: 'ranked' } };
  const result = await call(server.url, modern('tools/call', params), agent);
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
}

try {
  while ((await search('zzzz')).building === true) {
    progress('the index is being built');
    await delay(500);
  }
  const seconds = (performance.now() - begun) / 1_000;
  const processorSeconds = cpuSecondsOf(server.pid);
  // Once an edit is found, all folders are watched, and the server has nothing else to do than to answer.
  const found = [];
  for (let edit = 0; edit < how.edits; edit++) {
    progress(`edit ${edit + 1} of ${how.edits}`);
    const mark = `mark${edit}x`;
    const start = performance.now();
    writeFileSync(
      fileOf(Math.floor(((edit + 1) * how.documents) / how.edits) - 1),
      `# Edited\n\n${mark} ${sentence(how.words)}\n`,
    );
    while ((await search(mark)).matches.length === 0) {
      if (performance.now() - start > FOUND_MS) throw new Error(`an edit was not found within ${FOUND_MS} ms`);
      await delay(5);
    }
    found.push(performance.now() - start);
  }
  const asked = [];
  for (const { name, first } of QUESTIONS) {
    progress(`questions: ${name}`);
    const taken = [];
    const before = cpuSecondsOf(server.pid);
    let count = 0;
    await Promise.all(
      Array.from({ length: how.inflight }, async () => {
        while (count++ < how.questions) {
          const question = sentence(3, first);
          const start = performance.now();
          await search(question);
          taken.push(performance.now() - start);
        }
      }),
    );
    const processor = ((cpuSecondsOf(server.pid) - before) * 1_000) / taken.length;
    asked.push({ name, p50: median(taken), p95: quantile(taken, 0.95), processor });
  }
  const memory = memoryOf(server.pid);
  // One at a time, since they work in this very process.
  const rivals = [];
  const rivalsMade = [
    () => fts5(documents, 'porter unicode61'),
    () => miniSearch(documents, how.cache),
    () => ripgrep(folder),
  ];
  for (const make of how.ours ? [] : rivalsMade) {
    progress('rivals');
    const start = performance.now();
    const rival = make();
    const made = (performance.now() - start) / 1_000;
    const times = [];
    for (const { first } of QUESTIONS) {
      const each = [];
      for (let at = 0; at < Math.min(how.questions, RIVAL_QUESTIONS); at++) {
        const question = sentence(3, first);
        const from = performance.now();
        await rival.find(question);
        each.push(performance.now() - from);
      }
      times.push({ p50: median(each), p95: quantile(each, 0.95) });
    }
    rivals.push({ name: rival.name, megabytesPerSecond: bytes / 1e6 / made, times });
  }
  const index = statSync(join(place, 'index', 'index.sqlite')).size;
  const results = {
    documents: how.documents,
    megabytesPerSecond: bytes / 1e6 / seconds,
    indexToText: index / bytes,
    megabytesPerProcessorSecond: bytes / 1e6 / processorSeconds,
    asked,
    editToFound: median(found),
    memory,
    rivals,
  };
  progress('');
  report(
    how,
    results,
    `${whole(how.documents)} documents of ${how.words} words, ${how.inflight} questions of three words at a time\n\n${table(
      ['', ''],
      [
        ['making the index', `${results.megabytesPerSecond.toFixed(2)} MB of text a second`],
        ['the same, by processor time', `${results.megabytesPerProcessorSecond.toFixed(2)} MB of text a second`],
        ['index to text', `${results.indexToText.toFixed(2)} x`],
        ['an edit until it is found', ms(results.editToFound)],
        ['memory after it, and at most', `${mib(memory.now)}, ${mib(memory.peak)}`],
      ],
    )}\n\n${table(
      ['questions', 'p50', 'p95', 'processor time'],
      asked.map(({ name, p50, p95, processor }) => [name, ms(p50), ms(p95), ms(processor)]),
    )}${how.ours ? '' : rivalsTable(rivals)}`,
  );
} finally {
  agent.destroy();
  await server.stop();
  progress('');
}

/** @param {readonly {name: string, megabytesPerSecond: number, times: {p50: number, p95: number}[]}[]} made */
function rivalsTable(made) {
  return `\n\nRivals, one question at a time, each giving paths and nothing that is read\n\n${table(
    ['', 'MB of text a second', ...QUESTIONS.flatMap(({ name }) => [`${name}: p50`, 'p95'])],
    made.map(({ name, megabytesPerSecond, times }) => [
      name,
      name.startsWith('ripgrep') ? 'no index' : megabytesPerSecond.toFixed(2),
      ...times.flatMap(({ p50, p95 }) => [ms(p50), ms(p95)]),
    ]),
  )}`;
}
