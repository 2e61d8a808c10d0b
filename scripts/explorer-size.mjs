/**
 * Prints how many bytes a browser loads for the first page of the explorer: script, style and markup, gzipped. Fails over the budget.
 * Needs `dist`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { createVitrine, serveHttp } from '../dist/index.js';
import { memoryProvider } from '../dist/providers/memory.js';
import { fail } from './installing.mjs';

/** Bytes. */
const BUDGET = 60 * 1024;

const FOLDER = new URL('../dist/explorer/', import.meta.url);
const resources = Object.fromEntries(
  Array.from({ length: 100 }, (_, at) => [`notes/note-${at}.md`, { text: `# ${at}` }]),
);
const vitrine = createVitrine({ mounts: { memory: memoryProvider({ resources }) } });
const serving = await serveHttp(vitrine, { port: 0 });
const get = async (path) => Buffer.from(await (await fetch(new URL(path, serving.url))).arrayBuffer());
const page = await get('/view/memory+memory/notes');
const linked = [...page.toString().matchAll(/(?:href|src)="(\/explorer\/[^"]+)"/g)].map((match) => match[1]);
const parts = [['markup', page], ...(await Promise.all(linked.map(async (path) => [path, await get(path)])))];
const entry = linked.find((path) => path.endsWith('.js')) ?? fail('The page has no script: npm run build makes it.');
// The script imports these at once; the rest is loaded when it is needed.
for (const file of imported('island.js')) parts.push([file, await get(entry.replace('island.js', file))]);
await serving.close();
await vitrine.close();

function imported(file, found = new Set()) {
  const text = readFileSync(new URL(file, FOLDER), 'utf8');
  for (const [, name] of text.matchAll(/(?:from|import)\s*["']\.\/([\w-]+\.js)["']/g))
    if (!found.has(name)) imported(name, found.add(name));
  return found;
}

let sum = 0;
for (const [name, bytes] of parts) {
  const size = gzipSync(bytes, { level: 9 }).byteLength;
  sum += size;
  console.log(`${String(size).padStart(8)}  ${name}`);
}
const later = readdirSync(FOLDER).filter(
  (file) => file.endsWith('.js') && !parts.some(([name]) => name.endsWith(file)),
);
console.log(`${String(sum).padStart(8)}  of ${BUDGET}; ${later.length} files are loaded when they are first needed`);
if (sum > BUDGET) fail(`The first load of the explorer has ${sum - BUDGET} bytes too many.`);
