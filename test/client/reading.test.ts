/** The client library reads contents of servers with and without capabilities in their entries. */
import { describe, expect, it } from 'vitest';
import {
  createResourceClient,
  type ReadOptions,
  type ReadResult,
  ResourceClientError,
  readEmbedded,
  writeEmbedded,
} from '../../src/client/index.ts';
import { ERAS } from '../e2e/harness.ts';
import { eraOf, scripted } from './scripted.ts';

const URI = 'doc:///report';

describe.each(ERAS)('contents from a server of the %s era', (era) => {
  /** Has the library read these contents. `metadata` describes the resource beforehand. */
  async function read(contents: readonly unknown[], options: ReadOptions = {}, metadata?: object): Promise<ReadResult> {
    await using server = await scripted({
      'resources/read': () => ({ contents, 'x-read': 1 }),
      ...(metadata !== undefined && {
        'resources/metadata': () => ({ resource: { uri: URI, name: 'report', ...metadata } }),
      }),
    });
    await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
    if (metadata !== undefined) await resources.metadata(URI);
    return await resources.read(URI, options);
  }

  const pdf = { uri: URI, name: 'report', mimeType: 'application/pdf', size: 3, blob: 'AAEC' };
  const text = { uri: URI, name: 'report', mimeType: 'text/plain', size: 4, text: 'text' };

  it('are requested in given formats, and each format is cached separately [2093-6]', async () => {
    const told: unknown[] = [];
    await using server = await scripted({
      'resources/read': ({ _meta }) => {
        const accept = (_meta as Readonly<Record<string, unknown>> | undefined)?.['vitrine/accept'];
        told.push(accept);
        return { contents: [accept === undefined ? pdf : text], ttlMs: 60_000, cacheScope: 'public' };
      },
    });
    await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
    const typeOf = async (accept?: ReadOptions['accept']) =>
      (await resources.read(URI, { accept })).primary?.resource.mimeType;
    expect(await typeOf()).toBe('application/pdf');
    expect(await typeOf(['text/plain', 'text/*'])).toBe('text/plain');
    expect(await typeOf(' text/plain , ')).toBe('text/plain');
    expect(await typeOf()).toBe('application/pdf');
    expect(told.filter((accept) => accept !== undefined)).toEqual([['text/plain', 'text/*'], ['text/plain']]);
  });

  it('in several formats: the first one, or the requested one, is given [2093-6]', async () => {
    const plain = await read([pdf, text], {}, { capabilities: { list: false } });
    expect(plain.primary?.resource.mimeType).toBe('application/pdf');
    expect(plain.alternatives).toHaveLength(2);
    expect(plain).toMatchObject({ listable: false, children: [], others: [], foreign: [], issues: [] });
    const wanted = async (accept: ReadOptions['accept']) => (await read([pdf, text], { accept })).primary?.text();
    expect(await wanted('text/*')).toBe('text');
    expect(await wanted(['image/png', 'text/plain'])).toBe('text');
    expect(await wanted('application/pdf;q=0.1, text/plain;q=0.9')).toBe('text');
    expect(await wanted('*/*, application/pdf;q=0')).toBe('text');
    await expect(read([pdf, text], { accept: 'image/*' })).rejects.toMatchObject({
      code: 'not-acceptable',
      data: { available: ['application/pdf', 'text/plain'] },
    });
  });

  it('of a resource without children: other URIs are set apart, and an empty result is an error [2093-6]', async () => {
    const other = { ...text, uri: 'doc:///other' };
    const set = await read([pdf, other], {}, { capabilities: { list: false } });
    expect(set.alternatives.map(({ resource }) => resource.uri)).toEqual([URI]);
    expect(set.foreign.map(({ resource }) => resource.uri)).toEqual(['doc:///other']);
    expect(set.issues).toEqual([{ kind: 'foreign-uri', count: 1 }]);
    for (const contents of [[], [other]]) {
      await expect(read(contents, {}, { capabilities: { list: false } })).rejects.toMatchObject({
        code: 'invalid-answer',
      });
    }
  });

  it('that contradict each other about one resource are reported [2093-6]', async () => {
    const { issues } = await read([pdf, { ...text, name: 'another' }]);
    expect(issues).toEqual([{ kind: 'inconsistent-metadata', count: 1 }]);
  });

  it('of a container: other URIs are its children [2093-5]', async () => {
    const child = { ...text, uri: `${URI}/one` };
    const plain = await read([child], {}, { capabilities: { list: true } });
    expect(plain).toMatchObject({ listable: true, primary: undefined, foreign: [], issues: [] });
    expect(plain.children.map(({ resource }) => resource.uri)).toEqual([`${URI}/one`]);
    const both = await read([{ ...text, capabilities: { list: true } }, child]);
    expect(both.primary?.text()).toBe('text');
    expect(both.children).toHaveLength(1);
  });

  it('of several URIs from a server without capabilities: the first one is the primary one [2093-7]', async () => {
    const set = await read([
      { ...text, uri: 'doc:///a' },
      { ...pdf, uri: 'doc:///a' },
      { ...text, uri: 'doc:///b' },
    ]);
    expect(set.listable).toBeUndefined();
    expect(set.primary?.resource.uri).toBe('doc:///a');
    expect(set.alternatives).toHaveLength(2);
    expect(set.others.map(({ resource }) => resource.uri)).toEqual(['doc:///b']);
    expect(set.issues).toEqual([{ kind: 'several-uris', count: 1 }]);
  });

  it('that are invalid are left out, without an error', async () => {
    expect(await read([])).toMatchObject({ primary: undefined, alternatives: [], issues: [{ kind: 'no-contents' }] });
    // In the 2026 era the SDK accepts a whole result or none of it.
    const nonsense = read([{ uri: URI }, 'nonsense', text]);
    if (era === 'modern') {
      await expect(nonsense).rejects.toMatchObject({ code: 'invalid-answer' });
      return;
    }
    const set = await nonsense;
    expect(set.alternatives).toHaveLength(1);
    expect(set.issues).toEqual([{ kind: 'not-an-item', count: 2 }]);
  });

  it('keep unknown fields, and lose invalid ones [2093-11]', async () => {
    const { primary, result } = await read([{ ...text, size: 'big', 'x-colour': 'red', _meta: { 'x/y': 1 } }]);
    expect(primary?.resource).toEqual({
      uri: URI,
      name: 'report',
      mimeType: 'text/plain',
      'x-colour': 'red',
      _meta: { 'x/y': 1 },
    });
    expect(primary?.contents).toMatchObject({ size: 'big', text: 'text' });
    expect(result['x-read']).toBe(1);
  });

  it('are measured before they are decoded [SEC-RES-3]', async () => {
    const blob = 'A'.repeat(4 * 1024);
    await expect(read([{ uri: URI, blob }], { maxBytes: 3 * 1024 - 1 })).rejects.toMatchObject({
      code: 'too-large',
      data: { size: 3 * 1024 },
    });
    expect((await read([{ uri: URI, blob }], { maxBytes: 3 * 1024 })).primary?.byteLength).toBe(3 * 1024);
    await expect(read([{ uri: URI, text: 'ää' }], { maxBytes: 3 })).rejects.toMatchObject({ code: 'too-large' });
    const halves = [
      { uri: URI, text: 'aa' },
      { uri: URI, text: 'bb' },
    ];
    await expect(read(halves, { maxBytes: 3 })).rejects.toMatchObject({ code: 'too-large' });
  });

  it('that are not base64 are refused when they are decoded', async () => {
    const failing = read([{ uri: URI, blob: 'AAA=AAA=A' }]);
    if (era === 'modern') await expect(failing).rejects.toMatchObject({ code: 'invalid-answer' });
    else {
      const { primary } = await failing;
      expect(() => primary?.bytes()).toThrow(ResourceClientError);
    }
  });

  it('that are not a list are refused', async () => {
    await using server = await scripted({ 'resources/read': () => ({ contents: 'none' }) });
    await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
    await expect(resources.read(URI)).rejects.toMatchObject({ code: 'invalid-answer' });
  });
});

describe('an embedded resource', () => {
  const resource = { uri: URI, text: 'text' };
  const annotations = { priority: 1 };

  it('has the annotations of its resource as its own [2093-9]', () => {
    const block = readEmbedded({ type: 'resource', resource: { ...resource, annotations } });
    expect(block.annotations).toEqual(annotations);
    expect(block.item.text()).toBe('text');
  });

  it('of an older sender has its annotations copied to the resource [2093-9]', () => {
    const block = readEmbedded({ type: 'resource', resource, annotations });
    expect(block.item.resource.annotations).toEqual(annotations);
    expect(block.resource.annotations).toEqual(annotations);
  });

  it('is sent without annotations of its own [2093-9]', () => {
    expect(writeEmbedded({ type: 'resource', resource, annotations })).toEqual({
      type: 'resource',
      resource: { ...resource, annotations },
    });
    const both = {
      type: 'resource',
      resource: { ...resource, annotations },
      annotations: { priority: 0.5, audience: ['user'] },
    };
    expect(writeEmbedded(both as never)).toEqual({
      type: 'resource',
      resource: { ...resource, annotations: { priority: 1, audience: ['user'] } },
    });
  });

  it('without contents is refused', () => {
    expect(() => readEmbedded({ type: 'resource', resource: { uri: URI } })).toThrow(ResourceClientError);
    expect(() => readEmbedded({ type: 'resource' } as never)).toThrow(ResourceClientError);
  });
});
