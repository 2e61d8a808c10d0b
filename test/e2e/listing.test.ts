/** `resources/list`: the default list, the children of a resource, and resources that cannot be listed. */
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseTreeUri } from '../../src/core/uri.ts';
import { drain, failure, HINTS, hintsIn, type ListAnswer, missing, refusedAs } from './answers.ts';
import { type Connected, connect, MATRIX, MUSEUM } from './harness.ts';

describe.each(MATRIX)('listing over $transport, $era', ({ transport, era }) => {
  let museum: Connected;
  beforeAll(async () => {
    museum = await connect(transport, era, [MUSEUM]);
  });
  afterAll(() => museum.close());

  it('shows the whole tree without the URI of a folder, breadth first [2093-4]', async () => {
    const listed = await drain(museum, 'resources/list');
    const there = await readdir(MUSEUM, { recursive: true });
    expect(listed.map(({ uri }) => pathOf(uri)).sort()).toEqual(['', ...there].sort());
    const depths = listed.map(({ uri }) => pathOf(uri).split('/').length);
    expect(depths).toEqual(depths.toSorted((a, b) => a - b));
  });

  it('lists direct children only, directories first and then by name [2093-4, RES-6]', async () => {
    const listed = await drain(museum, 'resources/list', { uri: 'file:///collection' });
    expect(listed.map(({ name }) => name)).toEqual([
      'calculators',
      'clocks',
      'typewriters',
      '100% brass.md',
      'catalogue.json',
      'inventory.csv',
      'naïve café clock – №7.md',
    ]);
    expect(new Set(listed.map(({ uri }) => uri)).size).toBe(listed.length);
    for (const { uri } of listed) expect(uri).toMatch(/^file:\/\/\/collection\/[^/]+$/);
  });

  it.each(['file:///collection/', 'file:///collection', 'FILE:///collection', 'file://localhost/collection'])(
    'takes %s for the same folder [2093-4]',
    async (uri) => {
      const expected = await drain(museum, 'resources/list', { uri: 'file:///collection' });
      expect(await drain(museum, 'resources/list', { uri })).toEqual(expected);
    },
  );

  it('gives every entry its type and capabilities [2093-3, 2093-8]', async () => {
    for (const resource of await drain(museum, 'resources/list')) {
      const isFolder = resource.mimeType === 'inode/directory';
      expect(resource).toMatchObject({
        name: expect.stringMatching(/./),
        capabilities: { list: isFolder, subscribe: true },
        annotations: { lastModified: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) },
      });
      expect(typeof resource.size).toBe(isFolder ? 'undefined' : 'number');
    }
  });

  it('gives the capability to list to exactly the resources that can be listed [2093-3]', async () => {
    for (const { uri, capabilities } of await drain(museum, 'resources/list')) {
      const answer = museum.request('resources/list', { uri });
      if (capabilities?.list) await expect(answer).resolves.toHaveProperty('resources');
      else expect((await failure(answer)).code).toBe(-32602);
    }
  });

  it('gives a type for every file of the exhibition whose name has one [2093-8, RES-6]', async () => {
    const types = new Map((await drain(museum, 'resources/list')).map(({ uri, mimeType }) => [uri, mimeType]));
    expect(types.get('file:///guide/leaflet.pdf')).toBe('application/pdf');
    expect(types.get('file:///collection/clocks/winding.toml')).toBe('application/toml');
    expect(types.get('file:///collection/clocks/tick.wav')).toMatch(/^audio\//);
    expect(types.get('file:///guide/facade.webp')).toBe('image/webp');
    expect(types.get('file:///README.md')).toBe('text/markdown');
    expect([...types.values()]).not.toContain(undefined);
  });

  it('distinguishes a missing resource from one that has no children [2093-4]', async () => {
    const cellar = await failure(museum.request('resources/list', { uri: 'file:///cellar' }));
    const file = await failure(museum.request('resources/list', { uri: 'file:///README.md' }));
    expect(cellar).toMatchObject(missing(era, 'file:///cellar'));
    expect(file).toMatchObject({ code: -32602, data: { uri: 'file:///README.md', reason: 'not-listable' } });
    expect(cellar.message).toMatch(/not found/);
    expect(file.message).toMatch(/no children.*read it/);
  });

  it.each([
    ['file:///README.md/', 'not-found'],
    ['file:///collection/nothing/deeper', 'not-found'],
    ['https://example.com/', 'not-found'],
    ['file:///../', 'invalid'],
    ['file:///%zz', 'invalid'],
    ['no uri', 'not-found'],
  ])('refuses %s as %s [2093-4, RES-6]', async (uri, reason) => {
    const refused = await failure(museum.request('resources/list', { uri }));
    expect(refused).toMatchObject(refusedAs(era, uri, reason));
  });

  it('refuses a URI that is not a text, and an empty one [RES-6]', async () => {
    expect((await failure(museum.request('resources/list', { uri: 7 }))).code).toBe(-32602);
    expect((await failure(museum.request('resources/list', { uri: '' }))).code).toBe(-32602);
  });

  it('gives cache hints: how long, and for whom [RES-6]', async () => {
    for (const params of [{}, { uri: 'file:///' }]) {
      const answer = await museum.request<ListAnswer>('resources/list', params);
      expect(hintsIn({ ...answer })).toEqual(HINTS[era]);
    }
  });
});

const pathOf = (uri: string): string => parseTreeUri(uri, 'file').segments.join('/');
