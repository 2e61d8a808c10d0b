/**
 * Measures conversions: the first one of a document, later ones of a changed document, reads of a format that is kept, and the
 * bare library in a process that has loaded it already. `node bench/forms-conversion.mjs [rounds]`, after `npm run build`.
 */
import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { readXlsx } from 'hucre/xlsx';
import mammoth from 'mammoth';
import { extractText, getDocumentProxy } from 'unpdf';
import { createContext, wrapProvider } from '../dist/index.js';
import { createAlternatives } from '../dist/layers/alternatives.js';
import { memoryProvider } from '../dist/providers/memory.js';

const ROUNDS = Number(process.argv[2] ?? 15);
const OFFICE = new URL('../examples/museum/office/', import.meta.url);

const BARE = {
  'conservation-report.pdf': async (bytes) => extractText(await getDocumentProxy(new Uint8Array(bytes))),
  'loan-agreement.docx': (bytes) => mammoth.convertToHtml({ buffer: bytes }),
  'visitors.xlsx': (bytes) => readXlsx(bytes),
};

const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];

async function timed(run) {
  const before = performance.now();
  await run();
  return performance.now() - before;
}

/** The same document with another end each time, so that no format of it is kept. */
const changed = (bytes, round) => Buffer.concat([bytes, Buffer.from(`\n% ${round}`)]);

async function measure(name) {
  const bytes = await readFile(new URL(name, OFFICE));
  const alternatives = createAlternatives();
  let round = 0;
  const content = () => (round === 0 ? bytes : changed(bytes, round));
  const source = memoryProvider({ resources: { [name]: { bytes } } });
  const provider = alternatives.layer(
    wrapProvider(source, {
      read: async (uri, want, ctx) =>
        (await source.read(uri, want, ctx)).map((body) => ({ ...body, content: { kind: 'bytes', bytes: content() } })),
    }),
  );
  const ctx = createContext();
  const read = () =>
    provider.read(`memory:///${name}`, { maxBytes: 1e7, maxChildren: 1, accept: ['text/markdown'] }, ctx);
  const first = await timed(read);
  const fresh = [];
  const kept = [];
  const bare = [];
  await BARE[name](bytes);
  for (round = 1; round <= ROUNDS; round++) {
    fresh.push(await timed(read));
    kept.push(await timed(read));
    bare.push(await timed(() => BARE[name](bytes)));
  }
  await alternatives.close();
  return { first, fresh: median(fresh), kept: median(kept), bare: median(bare) };
}

const shown = (ms) => ms.toFixed(2).padStart(10);
console.log(
  `${'document, ms'.padEnd(26)}${['first', 'fresh', 'kept', 'bare'].map((each) => each.padStart(10)).join('')}`,
);
for (const name of Object.keys(BARE)) {
  const { first, fresh, kept, bare } = await measure(name);
  console.log(`${name.padEnd(26)}${[first, fresh, kept, bare].map(shown).join('')}`);
}
