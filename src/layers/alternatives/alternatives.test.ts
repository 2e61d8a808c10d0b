import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { ReadOptions, ResourceProvider } from '../../core/provider.ts';
import type { SharedAnswers } from '../../core/shared-answers/shared-answers.ts';
import { FORMATS_META_KEY } from '../../protocol/meta.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { streaming } from '../../testing/memory-fixture.ts';
import { drainBody, EVERYTHING } from '../../testing/observe.ts';
import { mimeLayer } from '../mime/index.ts';
import { createCatalogue } from './catalogue.ts';
import { type Alternatives, type AlternativesOptions, createAlternatives, missingPackages } from './index.ts';
import { converterVersions, PACKAGES } from './versions.ts';

const idle = createAlternatives();
layerContract('alternatives', idle.layer);
afterAll(() => idle.close());

const PDF = 'application/pdf';
const MARKDOWN = 'text/markdown';
const URI = 'memory:///report.pdf';

/**
 * A program that tells which conversion of its process this is, and otherwise does what the content says. Other tests cover the
 * converters.
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
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-formats-'));
  await writeFile(join(folder, 'program.mjs'), PROGRAM);
  program = pathToFileURL(join(folder, 'program.mjs'));
});
afterAll(() => rm(folder, { recursive: true }));

const opened: Alternatives[] = [];
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

const pdf = (text: string): string => `%PDF-1.4 ${text}`;

const LONG_AGO = { lastModified: '2020-01-01T00:00:00.000Z' };

const source = memoryProvider({
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

interface Observed {
  readonly provider: ResourceProvider;
  readonly reads: ReadOptions[];
}

function observed(options: AlternativesOptions = {}, around = (inner: ResourceProvider) => inner): Observed {
  const alternatives = createAlternatives(options, { program });
  opened.push(alternatives);
  const reads: ReadOptions[] = [];
  const inner = wrapProvider(around(source), {
    read: (uri, want, ctx) => {
      reads.push(want);
      return around(source).read(uri, want, ctx);
    },
  });
  return { provider: alternatives.layer(mimeLayer()(inner)), reads };
}

async function read(provider: ResourceProvider, uri: string, want: Partial<ReadOptions> = {}, ctx = createContext()) {
  const bodies = await provider.read(uri, { ...EVERYTHING, ...want }, ctx);
  const given: { type: string | undefined; text: string; body: ResourceBody }[] = [];
  for (const body of bodies) {
    given.push({ type: body.resource.mimeType, text: new TextDecoder().decode(await drainBody(body)), body });
  }
  await closeBodies(bodies);
  return given;
}

const typesOf = (given: readonly { readonly type: string | undefined }[]) => given.map(({ type }) => type);

describe('the description of a resource with other formats [2093-8]', () => {
  it('has its formats, its own first, in lists and metadata, without a read', async () => {
    const { provider, reads } = observed();
    const formats = { [FORMATS_META_KEY]: [{ mimeType: PDF, size: pdf('report').length }, { mimeType: MARKDOWN }] };
    expect(await provider.metadata(URI, createContext())).toMatchObject({ mimeType: PDF, _meta: formats });
    const { resources } = await provider.list('memory:///', { limit: 100 }, createContext());
    expect(resources.find(({ name }) => name === 'report.pdf')).toMatchObject({ mimeType: PDF, _meta: formats });
    expect(reads).toEqual([]);
  });

  it('is unchanged without other formats, or if the provider names its own', async () => {
    const { provider } = observed();
    const { resources } = await provider.list('memory:///', { limit: 100 }, createContext());
    const said = new Map(resources.map(({ name, _meta }) => [name, _meta?.[FORMATS_META_KEY]]));
    expect([said.get('plain.txt'), said.get('folder')]).toEqual([undefined, undefined]);
    expect(said.get('own.pdf')).toEqual([{ mimeType: PDF }, { mimeType: 'text/x-own' }]);
  });

  it('is unchanged if its type is excluded, or its URI is not concerned', async () => {
    const { provider } = observed({ except: ['application/*'] });
    expect(await provider.metadata(URI, createContext())).not.toHaveProperty('_meta');
    const alternatives = createAlternatives({}, { concerns: (uri) => uri !== URI });
    opened.push(alternatives);
    const layered = alternatives.layer(source);
    expect(await layered.metadata(URI, createContext())).not.toHaveProperty('_meta');
    expect(await layered.metadata('memory:///copy.pdf', createContext())).toHaveProperty('_meta');
  });
});

describe('formats whose packages are missing', () => {
  it('are not offered, and the packages can be named', () => {
    const without = (...missing: string[]) => createCatalogue([], (name) => !missing.includes(name));
    const formatsOf = (catalogue: ReturnType<typeof createCatalogue>, type: string) =>
      catalogue.formatsOf(type)?.map(({ mimeType }) => mimeType);
    expect(formatsOf(without(), PDF)).toEqual([MARKDOWN]);
    expect(formatsOf(without('sharp', 'exif-reader', 'music-metadata'), 'application/rtf; charset=x')).toEqual([
      MARKDOWN,
    ]);
    expect(formatsOf(without('exif-reader'), 'image/png')).toEqual(['image/webp']);
    expect(formatsOf(without('sharp', 'music-metadata'), 'image/png')).toBeUndefined();
    expect(formatsOf(without('sharp', 'music-metadata'), 'video/mp4')).toBeUndefined();
    expect(missingPackages((name) => name !== 'sharp' && name !== 'music-metadata')).toEqual([
      'sharp',
      'music-metadata',
    ]);
    expect(missingPackages()).toEqual([]);
  });
});

describe.each([
  ['in memory', (inner: ResourceProvider) => inner],
  ['in streams', streaming],
])('a read of content %s without a requested format [2093-6]', (_where, around) => {
  it('gives a document and its text, under one URI, each with its size', async () => {
    const { provider } = observed({}, around);
    const given = await read(provider, URI);
    expect(typesOf(given)).toEqual([PDF, MARKDOWN]);
    expect(given[0]?.text).toBe(pdf('report'));
    expect(given[1]?.text).toMatch(/^conversion \d+ 1 to text\/markdown$/);
    for (const { body, text } of given) {
      expect(body.resource).toMatchObject({ uri: URI, name: 'report.pdf', size: text.length, annotations: LONG_AGO });
      expect(body.resource._meta).toEqual(given[0]?.body.resource._meta);
    }
  });

  it('gives only the text of a document over the limit for originals', async () => {
    const { provider } = observed({ originalBytes: 4 }, around);
    expect(typesOf(await read(provider, URI))).toEqual([MARKDOWN]);
    expect(typesOf(await read(provider, URI))).toEqual([MARKDOWN]);
  });

  it('gives what fits: only the text if both together are too large', async () => {
    const { provider } = observed({}, around);
    const [, text] = await read(provider, URI);
    expect(typesOf(await read(provider, URI, { maxBytes: (text?.text.length ?? 0) + 1 }))).toEqual([MARKDOWN]);
    expect(typesOf(await read(provider, URI, { maxBytes: 3 }))).toEqual([PDF]);
  });

  it('gives a text unchanged, and children, too', async () => {
    const { provider } = observed({}, around);
    expect(typesOf(await read(provider, 'memory:///page.html'))).toEqual(['text/html']);
    expect(typesOf(await read(provider, 'memory:///plain.txt'))).toEqual(['text/plain']);
    expect(typesOf(await read(provider, 'memory:///folder'))).toEqual([PDF]);
  });

  it('gives the text of a document that only its bytes reveal', async () => {
    const { provider } = observed({}, around);
    expect(typesOf(await read(provider, 'memory:///unnamed'))).toEqual([PDF, MARKDOWN]);
    expect(typesOf(await read(provider, 'memory:///unnamed', { accept: [MARKDOWN] }))).toEqual([MARKDOWN]);
  });

  it.each(['crash', 'fail', 'large'])('gives the whole original if the text cannot be made: %s', async (name) => {
    const { provider } = observed({ originalBytes: 0 }, around);
    const given = await read(provider, `memory:///${name}.pdf`);
    expect(given.map(({ type, text }) => [type, text])).toEqual([[PDF, pdf(name)]]);
  });

  it('gives the original if it is too large to be converted, without reading it for that', async () => {
    const { provider } = observed({ maxInputBytes: 4 }, around);
    expect((await read(provider, URI)).map(({ text }) => text)).toEqual([pdf('report')]);
  });
});

describe('a read with accepted formats [2093-6]', () => {
  it('gives the best of them', async () => {
    const { provider } = observed();
    expect(typesOf(await read(provider, URI, { accept: [MARKDOWN] }))).toEqual([MARKDOWN]);
    expect(typesOf(await read(provider, URI, { accept: ['text/*', PDF] }))).toEqual([MARKDOWN]);
    expect(typesOf(await read(provider, URI, { accept: ['*/*'] }))).toEqual([PDF]);
    expect(typesOf(await read(provider, 'memory:///page.html', { accept: [MARKDOWN, '*/*'] }))).toEqual([MARKDOWN]);
    expect(typesOf(await read(provider, 'memory:///plain.txt', { accept: [MARKDOWN] }))).toEqual(['text/plain']);
  });

  it('gives a window of the original without conversion, and its formats', async () => {
    const { provider } = observed();
    const [only] = await read(provider, URI, { accept: [PDF], range: { offset: 5, length: 3 } });
    expect([only?.text, only?.body.window]).toEqual(['1.4', { offset: 5, total: 15 }]);
    expect(only?.body.resource._meta).toHaveProperty([FORMATS_META_KEY]);
  });

  it('gives windows of the requested format, and of the original by default', async () => {
    const { provider } = observed();
    const [whole] = await read(provider, URI, { accept: [MARKDOWN] });
    const total = whole?.text.length ?? 0;
    const [part] = await read(provider, URI, { accept: [MARKDOWN], range: { offset: 3, length: 4 } });
    expect([part?.text, part?.body.window]).toEqual(['vers', { offset: 3, total }]);
    expect((await read(provider, URI, { range: { offset: 0, length: 4 } })).map(({ text }) => text)).toEqual(['%PDF']);
    await expect(read(provider, URI, { accept: [MARKDOWN], range: { offset: total + 1 } })).rejects.toMatchObject({
      code: 'invalid',
    });
  });

  it.each([
    ['large', 'too-large'],
    ['fail', 'unavailable'],
    ['crash', 'unavailable'],
  ])('fails if nothing else is accepted, and otherwise gives the original: %s', async (name, code) => {
    const { provider } = observed();
    const uri = `memory:///${name}.pdf`;
    await expect(read(provider, uri, { accept: [MARKDOWN] })).rejects.toMatchObject({ code, uri });
    expect(typesOf(await read(provider, uri, { accept: [MARKDOWN, '*/*'] }))).toEqual([PDF]);
    expect(typesOf(await read(provider, URI))).toEqual([PDF, MARKDOWN]);
  });
});

/** Shared answers within this process. */
function sharedAnswers() {
  const kept = new Map<string, Uint8Array>();
  const answers: SharedAnswers = {
    get: async (key) => kept.get(key.join()),
    put: (key, answer) => void kept.set(key.join(), answer),
    async make(key, _maxBytes, work) {
      const answer = await work();
      kept.set(key.join(), answer);
      return answer;
    },
    state: () => ({ found: 0, missing: 0, failed: 0, kept: kept.size, lost: 0, damaged: 0, whole: true }),
    close: async () => {},
  };
  return { answers, kept };
}

describe('shared conversions', () => {
  const { answers, kept } = sharedAnswers();
  afterEach(() => kept.clear());

  /** As a process that has just started. */
  function started(options: AlternativesOptions = {}) {
    const alternatives = createAlternatives(options, { program, answers });
    opened.push(alternatives);
    const provider = alternatives.layer(mimeLayer()(source));
    return { text: async (uri = URI) => (await read(provider, uri)).at(-1)?.text, alternatives };
  }

  it('are made once by all processes for the same content, whatever its name', async () => {
    const [first, second] = [started(), started()];
    const text = await first.text();
    expect(text).toMatch(/^conversion /);
    expect(await second.text('memory:///copy.pdf')).toBe(text);
    expect(await second.text('memory:///copy.pdf')).toBe(text);
    expect([first.alternatives.conversions(), second.alternatives.conversions()]).toEqual([1, 0]);
  });

  it('differ for another content, and for other limits', async () => {
    const before = await started().text();
    expect(await started().text('memory:///folder/inside.pdf')).not.toBe(before);
    expect(await started({ maxOutputBytes: 1_000 }).text()).not.toBe(before);
    expect(await started({ maxUnpackedBytes: 1_000 }).text()).not.toBe(before);
    expect(await started({ timeoutMs: 1_000, cacheBytes: 1_024 }).text()).toBe(before);
  });

  it('do not include failures, because another process may succeed', async () => {
    for (const name of ['fail', 'large', 'crash']) {
      const one = started();
      expect(await one.text(`memory:///${name}.pdf`)).toBe(pdf(name));
      expect(one.alternatives.conversions()).toBe(1);
    }
    expect(kept.size).toBe(0);
  });

  it('depend on all packages that converters load, and their versions', async () => {
    const loaded = new Set<string>();
    for (const folder of ['src/layers/alternatives/converters', 'plug-ins/media', 'plug-ins/rtf']) {
      for (const name of await readdir(folder)) {
        if (!/(?<!\.test)\.ts$/.test(name)) continue;
        const code = await readFile(join(folder, name), 'utf8');
        for (const [, module = ''] of code.matchAll(/(?:import\(|^import (?!type ).* from )'([^'.][^']*)'/gm))
          if (!/^(?:node:|vitrine)/.test(module)) loaded.add(/^(?:@[^/]+\/)?[^/]+/.exec(module)?.[0] ?? '');
      }
    }
    expect([...loaded].sort()).toEqual(PACKAGES);
    const versions = JSON.parse(converterVersions()) as readonly string[];
    expect(versions).toHaveLength(PACKAGES.length + 1);
    for (const each of versions) expect(each).toMatch(/^\d+\.\d+\.\d+/);
  });
});

describe('conversions', () => {
  it('are made once for concurrent and for later requests', async () => {
    const { provider } = observed();
    const all = await Promise.all([1, 2, 3].map(() => read(provider, URI, { accept: [MARKDOWN] })));
    const later = await read(provider, URI);
    const texts = [...all, later].map((given) => given.at(-1)?.text);
    expect(new Set(texts).size).toBe(1);
    // The same content under another name has the same format.
    expect((await read(provider, 'memory:///copy.pdf')).at(-1)?.text).toBe(texts[0]);
  });

  it('are not made again for a known version, and its content is not read', async () => {
    const { provider } = observed({}, streaming);
    await read(provider, URI);
    let opened = 0;
    const counting = (inner: ResourceProvider): ResourceProvider =>
      wrapProvider(inner, {
        read: async (uri, want, ctx) =>
          (await inner.read(uri, want, ctx)).map((body) => {
            const { content } = body;
            if (content.kind === 'bytes') return body;
            const open = (): AsyncIterable<Uint8Array> => {
              opened++;
              return content.open();
            };
            return { ...body, content: { ...content, open } };
          }),
      });
    const alternatives = createAlternatives({}, { program });
    const layered = alternatives.layer(counting(streaming(source)));
    await using _end = { [Symbol.asyncDispose]: () => alternatives.close() };
    await read(layered, URI, { accept: [MARKDOWN] });
    expect(opened).toBe(1);
    await read(layered, URI, { accept: [MARKDOWN] });
    expect(opened).toBe(1);
    // Another caller may see another content, so it is read, and then found to be the same.
    await read(layered, URI, { accept: [MARKDOWN] }, createContext({ principal: { id: 'other' } }));
    expect(opened).toBe(2);
  });

  it('that take too long are ended, and the next one runs', async () => {
    const { provider } = observed({ timeoutMs: 2_000, maxConcurrent: 1 });
    const hanging = read(provider, 'memory:///hang.pdf', { accept: [MARKDOWN] });
    await expect(hanging).rejects.toMatchObject({ code: 'timeout' });
    // On a busy machine a good conversion may take too long, too.
    await expect
      .poll(() => read(provider, URI).then(typesOf, (error) => error.code), { timeout: 60_000 })
      .toEqual([PDF, MARKDOWN]);
  });

  it('that no caller waits for any more are ended [RES-7]', async () => {
    const { provider } = observed({ maxConcurrent: 1 });
    const caller = new AbortController();
    const gone = read(provider, 'memory:///hang.pdf', { accept: [MARKDOWN] }, createContext({ signal: caller.signal }));
    // It has the only process, until its caller leaves.
    const next = read(provider, URI, { accept: [MARKDOWN] });
    setTimeout(() => caller.abort(new Error('The caller is gone')), 100);
    await expect(gone).rejects.toThrow('The caller is gone');
    expect(typesOf(await next)).toEqual([MARKDOWN]);
  });

  it('are refused if too many are waiting', async () => {
    const { provider } = observed({ maxConcurrent: 1, maxWaiting: 0 });
    const caller = new AbortController();
    const first = read(
      provider,
      'memory:///hang.pdf',
      { accept: [MARKDOWN] },
      createContext({ signal: caller.signal }),
    );
    first.catch(() => {});
    await expect
      .poll(() => read(provider, URI, { accept: [MARKDOWN] }).catch((error) => error.code), { timeout: 60_000 })
      .toBe('limited');
    caller.abort(new Error('Enough'));
    await expect(first).rejects.toThrow('Enough');
  });

  it('end with the layer', async () => {
    const { provider } = observed();
    const hanging = read(provider, 'memory:///hang.pdf', { accept: [MARKDOWN] });
    hanging.catch(() => {});
    await read(provider, URI);
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await expect(hanging).rejects.toMatchObject({ code: 'unavailable' });
    await expect(read(provider, 'memory:///folder/inside.pdf', { accept: [MARKDOWN] })).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
