/**
 * What ranked search costs over a folder of synthetic documents: how fast its index is made, how long questions take with
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
import { ms, progress, report, table, whole } from './lib/report.mjs';
import { median, quantile } from './lib/stats.mjs';

const how = options('ranked', 'Ranked search: making the index, questions, and edits until they are found.', {
  documents: { type: 'number', default: 20_000, quick: 500, help: 'documents that are made' },
  words: { type: 'number', default: 300, help: 'words of each' },
  questions: { type: 'number', default: 2_000, quick: 100, help: 'questions that are asked' },
  inflight: { type: 'number', default: 8, help: 'questions at a time' },
  cache: { type: 'string', default: join(tmpdir(), 'vitrine-bench-finding'), help: 'folder of what is fetched' },
  edits: { type: 'number', default: 10, quick: 3, help: 'edits that are looked for' },
});
/** Questions that a rival is asked. */
const RIVAL_QUESTIONS = 200;
const VOCABULARY = 20_000;
const PER_FOLDER = 1_000;

/** Milliseconds until an edit has to be found. */
const FOUND_MS = 60_000;

/** The same numbers every time. */
let seed = 7;
function random() {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
}

/** A word, of which the first are far more frequent than the last, as in any language. */
const word = () => `w${Math.floor(VOCABULARY ** random()).toString(36)}`;
const sentence = (count) => Array.from({ length: count }, word).join(' ');

const folder = temporaryFolder();
const fileOf = (at) => join(folder, `${Math.floor(at / PER_FOLDER)}`, `${at}.md`);
let bytes = 0;
/** @type {{path: string, text: string}[]} */
const documents = [];
for (let at = 0; at < how.documents; at++) {
  if (at % PER_FOLDER === 0) mkdirSync(join(folder, `${at / PER_FOLDER}`));
  const text = `# ${sentence(5)}\n\n${sentence(how.words)}\n`;
  bytes += text.length;
  documents.push({ path: `${at}.md`, text });
  writeFileSync(fileOf(at), text);
}
const place = temporaryFolder();
const config = join(place, 'vitrine.json');
const mounts = { bench: { path: folder, prefix: 'none' } };
writeFileSync(config, JSON.stringify({ index: { folder: './index' }, mounts }));

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
    progress('the index is being made');
    await delay(500);
  }
  const seconds = (performance.now() - begun) / 1_000;
  const taken = [];
  let asked = 0;
  progress('questions');
  await Promise.all(
    Array.from({ length: how.inflight }, async () => {
      while (asked++ < how.questions) {
        const question = sentence(3);
        const start = performance.now();
        await search(question);
        taken.push(performance.now() - start);
      }
    }),
  );
  const found = [];
  for (let edit = 0; edit < how.edits; edit++) {
    progress(`edit ${edit + 1} of ${how.edits}`);
    const mark = `mark${edit}x`;
    const start = performance.now();
    writeFileSync(fileOf(edit), `# Edited\n\n${mark} ${sentence(how.words)}\n`);
    while ((await search(mark)).matches.length === 0) {
      if (performance.now() - start > FOUND_MS) throw new Error(`an edit was not found within ${FOUND_MS} ms`);
      await delay(5);
    }
    found.push(performance.now() - start);
  }
  // One at a time, since they work in this very process.
  const rivals = [];
  for (const make of [
    () => fts5(documents, 'porter unicode61'),
    () => miniSearch(documents, how.cache),
    () => ripgrep(folder),
  ]) {
    progress('rivals');
    const start = performance.now();
    const rival = make();
    const made = (performance.now() - start) / 1_000;
    const each = [];
    for (let at = 0; at < Math.min(how.questions, RIVAL_QUESTIONS); at++) {
      const question = sentence(3);
      const from = performance.now();
      await rival.find(question);
      each.push(performance.now() - from);
    }
    rivals.push({
      name: rival.name,
      megabytesPerSecond: bytes / 1e6 / made,
      p50: median(each),
      p95: quantile(each, 0.95),
    });
  }
  const index = statSync(join(place, 'index', 'index.sqlite')).size;
  const results = {
    documents: how.documents,
    megabytesPerSecond: bytes / 1e6 / seconds,
    indexToText: index / bytes,
    p50: median(taken),
    p95: quantile(taken, 0.95),
    editToFound: median(found),
    rivals,
  };
  progress('');
  report(
    how,
    results,
    `${whole(how.documents)} documents of ${how.words} words, ${how.inflight} questions at a time\n\n${table(
      ['', ''],
      [
        ['making the index', `${results.megabytesPerSecond.toFixed(2)} MB of text a second`],
        ['index to text', `${results.indexToText.toFixed(2)} x`],
        ['a question of three words, p50', ms(results.p50)],
        ['p95', ms(results.p95)],
        ['an edit until it is found', ms(results.editToFound)],
      ],
    )}\n\nRivals, one question at a time, each giving paths and nothing that is read\n\n${table(
      ['', 'MB of text a second', 'p50', 'p95'],
      rivals.map(({ name, megabytesPerSecond, p50, p95 }) => [
        name,
        name.startsWith('ripgrep') ? 'no index' : megabytesPerSecond.toFixed(2),
        ms(p50),
        ms(p95),
      ]),
    )}`,
  );
} finally {
  agent.destroy();
  await server.stop();
  progress('');
}
