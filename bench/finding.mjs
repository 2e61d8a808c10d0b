/**
 * Measures how well ranked search finds: it puts questions, each with one document that is known to be the answer, to Vitrine
 * through its tool, and to other searches over the same files. Documents and rivals are fetched into a cache folder.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { documentsIn } from './finding/documents.mjs';
import { fts5, MOST, miniSearch, ripgrep } from './finding/rivals.mjs';
import { temporaryFolder } from './lib/folders.mjs';
import { call, modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { startServer } from './lib/processes.mjs';
import { progress, report, table, times, whole } from './lib/report.mjs';

const how = options('finding', 'Ranked search: how often the document that answers is found, and how far up.', {
  questions: { type: 'number', default: 100_000, quick: 100, help: 'questions that are asked, of all that there are' },
  cache: { type: 'string', default: join(tmpdir(), 'vitrine-bench-finding'), help: 'folder of what is fetched' },
  missed: { type: 'boolean', default: false, help: 'print the questions whose document is not found first' },
});

/** Questions that are asked at a time. */
const AT_ONCE = 2;

const { documents, questions: all } = documentsIn(how.cache);
const every = Math.ceil(all.length / Math.min(all.length, how.questions));
const questions = all.filter((_, at) => at % every === 0);
const folder = temporaryFolder();
for (const { path, text } of documents) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
const place = temporaryFolder();
const config = join(place, 'vitrine.json');
const mounts = { bench: { path: folder, prefix: 'none' } };
writeFileSync(config, JSON.stringify({ index: { folder: './index' }, mounts }));
const server = await startServer([how.cli, 'serve', '--config', config, '--http', '0'], {});
const agent = new Agent({ keepAlive: true, maxSockets: 4 });

/** @param {string} pattern */
async function search(pattern) {
  const params = { name: 'search', arguments: { pattern, mode: 'ranked', context: 0 } };
  const result = await call(server.url, modern('tools/call', params), agent);
  if (result.isError) throw new Error(`${pattern}: ${result.content[0].text}`);
  return result.structuredContent;
}

/** @type {import('./finding/rivals.mjs').Rival} */
const vitrine = {
  name: 'Vitrine',
  async find(words) {
    const { matches } = await search(words);
    return matches.map((/** @type {{uri: string}} */ { uri }) => decodeURIComponent(uri.replace(/^file:\/\/\//, '')));
  },
};

/** @param {readonly string[]} found @param {string} path */
const placeOf = (found, path) => found.slice(0, MOST).indexOf(path);

/**
 * The mean of 1 / the place of the document, and the share of documents that are among the first ten.
 * @param {readonly number[]} places
 */
function scores(places) {
  const mean = (/** @type {(place: number) => number} */ of) =>
    places.reduce((sum, at) => sum + (at < 0 ? 0 : of(at)), 0) / places.length;
  return { mrr: mean((at) => 1 / (at + 1)), recall: mean(() => 1) };
}

try {
  while ((await search('zzzz')).building === true) {
    progress('the index is being built');
    await delay(500);
  }
  const rivals = [
    vitrine,
    fts5(documents, 'unicode61'),
    fts5(documents, 'porter unicode61'),
    miniSearch(documents, how.cache),
    ripgrep(folder),
  ];
  const results = [];
  for (const rival of rivals) {
    /** @type {number[]} */
    const places = [];
    let next = 0;
    const ask = async () => {
      for (let at = next++; at < questions.length; at = next++) {
        const { words, path } = /** @type {typeof questions[number]} */ (questions[at]);
        progress(`${rival.name}: question ${at} of ${questions.length}`);
        const found = await rival.find(words);
        places[at] = placeOf(found, path);
        if (how.missed && rival === vitrine && places[at] !== 0)
          console.log(`${places[at]}\t${path}\t${words}\t${found.slice(0, 3).join(' ')}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    results.push({ rival: rival.name, places });
  }
  progress('');
  /** @type {(readonly [string, (asked: typeof questions[number]) => boolean])[]} */
  const groups = [
    ['all', () => true],
    ['held out', ({ held }) => held],
    ...[...new Set(questions.map(({ set }) => set))].map(
      (set) => /** @type {const} */ ([set, (/** @type {typeof questions[number]} */ asked) => asked.set === set]),
    ),
  ];
  const parts = groups.map(([name, belongs]) => {
    const rows = results.map(({ rival, places }) => ({
      rival,
      ...scores(places.filter((_, at) => belongs(/** @type {typeof questions[number]} */ (questions[at])))),
    }));
    return { name, questions: questions.filter(belongs).length, rows };
  });
  const behind = parts
    .slice(0, 2)
    .some(({ rows: [ours, ...others] }) =>
      others.some(({ mrr, recall }) => mrr >= (ours?.mrr ?? 0) || recall >= (ours?.recall ?? 0)),
    );
  const text = parts.map(
    ({ name, questions: count, rows }) =>
      `${name}: ${whole(count)} questions\n\n${table(
        ['', 'MRR@10', 'recall@10', 'our MRR to it', 'our recall to it'],
        rows.map(({ rival, mrr, recall }) => [
          rival,
          mrr.toFixed(3),
          recall.toFixed(3),
          times((rows[0]?.mrr ?? 0) / mrr),
          times((rows[0]?.recall ?? 0) / recall),
        ]),
      )}`,
  );
  report(
    how,
    { documents: documents.length, parts },
    `${whole(documents.length)} documents\n\n${text.join('\n\n')}\n\n${behind ? 'BEHIND' : 'Ahead of'} ${behind ? 'one of them' : 'each of them'}.`,
  );
  if (behind && !how.quick) process.exitCode = 1;
} finally {
  agent.destroy();
  await server.stop();
  progress('');
}
