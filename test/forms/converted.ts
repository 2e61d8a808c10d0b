/**
 * Documents with other formats, and the alternatives layer over them. Its converters are a program that only counts
 * conversions: other tests cover the converters.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { closeBodies, type ResourceBody } from '../../src/core/body.ts';
import { createContext } from '../../src/core/context.ts';
import { wrapProvider } from '../../src/core/layer.ts';
import type { ReadOptions, ResourceProvider } from '../../src/core/provider.ts';
import {
  type Alternatives,
  type AlternativesContext,
  type AlternativesOptions,
  createAlternatives,
} from '../../src/layers/alternatives/index.ts';
import { mimeLayer } from '../../src/layers/mime/index.ts';
import { FORMATS_META_KEY } from '../../src/protocol/meta.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { drainBody, EVERYTHING } from '../../src/testing/observe.ts';

export const PDF = 'application/pdf';
export const MARKDOWN = 'text/markdown';
export const URI = 'memory:///report.pdf';

/**
 * Answers each conversion with its number in this process. For a content with "crash", "hang", "fail" or "large", it crashes,
 * hangs, fails, or says that the result is too large.
 */
const PROGRAM = `
let count = 0;
export function serveConversions() {
  process.on('message', ({ id, bytes, to }) => {
    const text = Buffer.from(bytes).toString();
    if (text.includes('crash')) process.exit(7);
    if (text.includes('hang')) return;
    if (text.includes('fail')) process.send({ id, failed: 'no' });
    else if (text.includes('large')) process.send({ id, tooLarge: 'It is large', details: { limit: 1 } });
    else process.send({ id, format: 'conversion ' + process.pid + ' ' + ++count + ' to ' + to, usedBytes: 0 });
  });
  process.on('disconnect', () => process.exit());
}
`;

let folder: string;
let program: URL;

/** Writes the program of the converters. Call it before all tests of a file. */
export async function writeProgram(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-formats-'));
  await writeFile(join(folder, 'program.mjs'), PROGRAM);
  program = pathToFileURL(join(folder, 'program.mjs'));
}

/** Removes the program. Call it after all tests of a file. */
export async function removeProgram(): Promise<void> {
  await rm(folder, { recursive: true });
}

const opened: Alternatives[] = [];

/** Creates the layer with the program. `closeLayers` closes it. */
export function openLayer(options: AlternativesOptions = {}, context: AlternativesContext = {}): Alternatives {
  const alternatives = createAlternatives(options, { program, ...context });
  opened.push(alternatives);
  return alternatives;
}

/** Closes every open layer. Call it after each test. */
export async function closeLayers(): Promise<void> {
  await Promise.all(opened.splice(0).map((each) => each.close()));
}

/** A document that begins as a PDF does, and then holds the text. */
export const pdf = (text: string): string => `%PDF-1.4 ${text}`;

export const LONG_AGO = { lastModified: '2020-01-01T00:00:00.000Z' };

/** The provider of the documents. */
export const source = memoryProvider({
  resources: {
    'report.pdf': { text: pdf('report'), annotations: LONG_AGO },
    'copy.pdf': { text: pdf('report') },
    'crash.pdf': { text: pdf('crash') },
    'fail.pdf': { text: pdf('fail') },
    'hang.pdf': { text: pdf('hang') },
    'large.pdf': { text: pdf('large') },
    'page.html': { text: '<p>page</p>' },
    'plain.txt': { text: 'plain' },
    unnamed: { text: pdf('unnamed') },
    'own.pdf': { text: pdf('own'), _meta: { [FORMATS_META_KEY]: [{ mimeType: PDF }, { mimeType: 'text/x-own' }] } },
    'folder/inside.pdf': { text: pdf('inside') },
  },
});

export interface Observed {
  readonly provider: ResourceProvider;
  /** The options of every read that reached the documents. */
  readonly reads: ReadOptions[];
}

/** The documents through the layer. @param around wraps the provider of the documents */
export function observed(options: AlternativesOptions = {}, around = (inner: ResourceProvider) => inner): Observed {
  const alternatives = openLayer(options);
  const reads: ReadOptions[] = [];
  const inner = wrapProvider(around(source), {
    read: (uri, want, ctx) => {
      reads.push(want);
      return around(source).read(uri, want, ctx);
    },
  });
  return { provider: alternatives.layer(mimeLayer()(inner)), reads };
}

export interface GivenBody {
  readonly type: string | undefined;
  readonly text: string;
  readonly body: ResourceBody;
}

/** Reads a resource, with the text of each body. Without options, nothing limits the read. */
export async function read(
  provider: ResourceProvider,
  uri: string,
  want: Partial<ReadOptions> = {},
  ctx = createContext(),
): Promise<readonly GivenBody[]> {
  const bodies = await provider.read(uri, { ...EVERYTHING, ...want }, ctx);
  const given: GivenBody[] = [];
  for (const body of bodies) {
    given.push({ type: body.resource.mimeType, text: new TextDecoder().decode(await drainBody(body)), body });
  }
  await closeBodies(bodies);
  return given;
}

export const typesOf = (given: readonly Pick<GivenBody, 'type'>[]): readonly (string | undefined)[] =>
  given.map(({ type }) => type);
