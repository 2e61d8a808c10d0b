/**
 * Measures whether the time of an answer tells hidden things from missing ones: sends interleaved requests over HTTP
 * (2026-07-28), and prints the share of pairs in which the hidden thing took longer (AUC; at 0.5 the time tells nothing). The
 * control compares two missing names.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { temporaryFolder } from './lib/folders.mjs';
import { modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { startServer } from './lib/processes.mjs';
import { progress, report, table } from './lib/report.mjs';
import { median } from './lib/stats.mjs';

const how = options('hidden', 'Times of answers about what is hidden and what is missing.', {
  pairs: { type: 'number', default: 300, quick: 40, help: 'interleaved pairs of each kind' },
});

const folder = temporaryFolder();
mkdirSync(join(folder, 'docs/drafts/deep'), { recursive: true });
for (const name of ['drafts/new.md', 'drafts/deep/a.md', 'open.md'])
  writeFileSync(join(folder, 'docs', name), 'text\n');
const database = new DatabaseSync(join(folder, 'shop.sqlite'));
database.exec("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO people VALUES (1, 'a'), (2, 'b')");
database.close();

const read = (uri) => ['resources/read', { uri }];
const call = (name) => ['tools/call', { name, arguments: {} }];
/** Resources and tools that are hidden, missing, and missing under another name. The names of a kind have one length. */
const KINDS = [
  {
    name: 'files',
    of: ['drafts/new.md', 'drafts/nix.md', 'drafts/nop.md'].map((path) => read(`docs+file:///${path}`)),
  },
  { name: 'folders', of: ['drafts/deep', 'drafts/nope', 'drafts/none'].map((path) => read(`docs+file:///${path}`)) },
  { name: 'SQL rows', of: ['people/2', 'people/3', 'people/4'].map((path) => read(`shop+sqlite:///${path}`)) },
  { name: 'tools', of: ['search', 'serach', 'saerch'].map(call) },
];

const config = join(folder, 'vitrine.json');
writeFileSync(
  config,
  JSON.stringify({
    mounts: { docs: join(folder, 'docs'), shop: { sql: join(folder, 'shop.sqlite') } },
    access: {
      default: 'allow',
      rules: [
        { effect: 'hide', uris: ['docs+file:///drafts/**', 'shop+sqlite:///people/2'] },
        { effect: 'hide', tools: ['search'] },
      ],
    },
  }),
);

/** The share of pairs in which the first is larger; ties count half. */
function auc(first, second) {
  let wins = 0;
  for (const a of first) for (const b of second) wins += a > b ? 1 : a === b ? 0.5 : 0;
  return wins / (first.length * second.length);
}

const server = await startServer([how.cli, 'serve', '--config', config, '--http', '0']);

async function timed([method, params]) {
  const { headers, message } = modern(method, params);
  const body = JSON.stringify(message);
  const begin = process.hrtime.bigint();
  const response = await fetch(server.url, { method: 'POST', headers, body });
  await response.text();
  return Number(process.hrtime.bigint() - begin) / 1_000;
}

/** In another order each time: an answer leaves at a tick, so the time of a request begins with the rest of the one before. */
function shuffled(list) {
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [list[last], list[other]] = [list[other], list[last]];
  }
  return list;
}

const kinds = KINDS.map(({ name, of }) => ({ name, of: of.map((request) => ({ request, times: [] })) }));
const all = kinds.flatMap(({ of }) => of);
progress('warming up');
for (const { request } of all) for (let warm = 0; warm < 20; warm++) await timed(request);
progress('measuring');
for (let pair = 0; pair < how.pairs; pair++)
  for (const { request, times } of shuffled([...all])) times.push(await timed(request));

const rows = kinds.map(({ name, of }) => {
  const [hidden, missing, control] = of.map(({ times }) => times);
  return [
    name,
    median(hidden).toFixed(0),
    median(missing).toFixed(0),
    auc(hidden, missing).toFixed(3),
    auc(control, missing).toFixed(3),
  ];
});
await server.stop();
report(
  how,
  { rows },
  `${how.pairs} pairs of each\n\n${table(['what', 'hidden, us', 'missing, us', 'AUC', 'control'], rows)}`,
);
