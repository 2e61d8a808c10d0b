/** The alternatives layer describes the formats of resources, and reads the one that fits a request. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  closeLayers,
  LONG_AGO,
  MARKDOWN,
  observed,
  openLayer,
  PDF,
  pdf,
  read,
  removeProgram,
  source,
  typesOf,
  URI,
  writeProgram,
} from '../../../test/forms/converted.ts';
import { createContext } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { FORMATS_META_KEY } from '../../protocol/meta.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { streaming } from '../../testing/memory-fixture.ts';
import { createCatalogue } from './catalogue.ts';
import { createAlternatives, missingPackages } from './index.ts';

const idle = createAlternatives();
layerContract('alternatives', idle.layer);
afterAll(() => idle.close());

beforeAll(writeProgram);
afterAll(removeProgram);
afterEach(closeLayers);

describe('the description of a resource [2093-8]', () => {
  it('has the formats of the resource, the original first, in lists and metadata, without a read', async () => {
    const { provider, reads } = observed();
    const formats = { [FORMATS_META_KEY]: [{ mimeType: PDF, size: pdf('report').length }, { mimeType: MARKDOWN }] };
    expect(await provider.metadata(URI, createContext())).toMatchObject({ mimeType: PDF, _meta: formats });
    const { resources } = await provider.list('memory:///', { limit: 100 }, createContext());
    expect(resources.find(({ name }) => name === 'report.pdf')).toMatchObject({ mimeType: PDF, _meta: formats });
    expect(reads).toEqual([]);
  });

  it('is unchanged if there are no other formats, or if the provider names them itself', async () => {
    const { provider } = observed();
    const { resources } = await provider.list('memory:///', { limit: 100 }, createContext());
    const said = new Map(resources.map(({ name, _meta }) => [name, _meta?.[FORMATS_META_KEY]]));
    expect([said.get('plain.txt'), said.get('folder')]).toEqual([undefined, undefined]);
    expect(said.get('own.pdf')).toEqual([{ mimeType: PDF }, { mimeType: 'text/x-own' }]);
  });

  it('is unchanged if its type is excluded, or its URI is not concerned', async () => {
    const { provider } = observed({ except: ['application/*'] });
    expect(await provider.metadata(URI, createContext())).not.toHaveProperty('_meta');
    const layered = openLayer({}, { concerns: (uri) => uri !== URI }).layer(source);
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
