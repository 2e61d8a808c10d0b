/** Searching with the client library: ranked if the server has an index, line by line otherwise. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResourceClient, type FoundPlace, type SearchOptions, searchResources } from '../../src/client/index.ts';
import { ResourceError } from '../../src/core/errors.ts';
import { wrapProvider } from '../../src/core/layer.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { createIndex } from '../../src/search/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { scripted } from './scripted.ts';

const RESOURCES = {
  'winding.md': { text: '# Clocks\n\nThey strike.\n\n## Winding\n\nThe clock is wound on Tuesdays.\n' },
  'keys.txt': { text: 'keys of the clock' },
  ...Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`notes/${at}.txt`, { text: `a barometer, ${at}` }])),
};

let folder: Folder;
let vitrine: Vitrine;
let serving: HttpServing;
let plain: Vitrine;
let serve: HttpServing;
beforeAll(async () => {
  folder = await temporaryFolder({});
  const mounts = { m: memoryProvider({ resources: RESOURCES }) };
  vitrine = createVitrine({ mounts, index: createIndex({ folder: folder.path }) });
  plain = createVitrine({ mounts });
  await vitrine.ranked?.settled();
  serving = await serveHttp(vitrine, { port: 0 });
  serve = await serveHttp(plain, { port: 0 });
});
afterAll(async () => {
  await Promise.all([serving.close(), serve.close()]);
  await Promise.all([vitrine.close(), plain.close()]);
  await folder[Symbol.asyncDispose]();
});

async function search(
  url: string | URL,
  words: string,
  options: SearchOptions = {},
): Promise<{ readonly places: readonly FoundPlace[]; readonly mode: SearchOptions['mode'] }> {
  await using client = createResourceClient({ url });
  const found = searchResources(client, words, options);
  const places: FoundPlace[] = [];
  for await (const place of found) places.push(place);
  return { places, mode: found.report.mode };
}

describe('a search by the client library', () => {
  it('gives the best place first, as a URI that reads its lines', async () => {
    const { places, mode } = await search(serving.url, 'how is the clock wound');
    expect(mode).toBe('ranked');
    expect(places[0]).toEqual({
      uri: 'm+memory:///winding.md',
      place: 'm+memory:///winding.md#L5-L7',
      line: 7,
      heading: 'Clocks > Winding',
      mimeType: 'text/markdown',
      text: expect.stringContaining('wound on Tuesdays'),
    });
    await using client = createResourceClient({ url: serving.url });
    const { primary } = await client.read(places[0]?.place ?? '');
    expect(primary?.text()?.trimEnd()).toBe(places[0]?.text);
  });

  it('gives all pages, below a folder, and by filters', async () => {
    expect((await search(serving.url, 'barometer')).places).toHaveLength(30);
    expect((await search(serving.url, 'barometer', { glob: '1?.txt' })).places).toHaveLength(10);
    expect((await search(serving.url, 'clock', { uri: 'm+memory:///keys.txt' })).places).toHaveLength(1);
    expect((await search(serving.url, 'clock type:markdown')).places).toHaveLength(1);
    expect((await search(serving.url, 'ti?e[sd]|wound', { mode: 'regex' })).places).toHaveLength(1);
    expect((await search(serving.url, 'keys', { mode: 'name' })).places.map(({ uri }) => uri)).toEqual([
      'm+memory:///keys.txt',
    ]);
  });

  it('reports what could not be searched', async () => {
    const away = wrapProvider(memoryProvider({ name: 'away' }), {
      list: async () => {
        throw new ResourceError('unavailable', 'It is out of reach');
      },
    });
    const partly = createVitrine({ mounts: { away, m: memoryProvider({ resources: RESOURCES }) } });
    const served = await serveHttp(partly, { port: 0 });
    try {
      await using client = createResourceClient({ url: served.url });
      const found = searchResources(client, 'barometer');
      expect(found.report.missing).toEqual([]);
      let count = 0;
      for await (const _ of found) count++;
      expect(count).toBe(30);
      expect(found.report.missing).toEqual([{ mount: 'away', reason: 'It is out of reach' }]);
    } finally {
      await served.close();
      await partly.close();
    }
  });

  it('finds the words as they are written if there is no index', async () => {
    const { places, mode } = await search(serve.url, 'clock is wound');
    expect({ mode, uris: places.map(({ place }) => place) }).toEqual({
      mode: 'literal',
      uris: ['m+memory:///winding.md#L5-L7'],
    });
    expect((await search(serve.url, 'keys', { mode: 'name' })).places).toHaveLength(1);
    await expect(search(serve.url, 'clock', { mode: 'ranked' })).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('finds names by a part of them or by a glob, with and without an index', async () => {
    for (const { url } of [serving, serve]) {
      const names = async (words: string): Promise<readonly string[]> =>
        (await search(url, words, { mode: 'name' })).places.map(({ uri }) => uri.replace('m+memory:///', ''));
      expect(await names('*.md')).toEqual(['winding.md']);
      expect(await names('key?.{txt,md}')).toEqual(['keys.txt']);
      expect(await names('[jk]eys.txt')).toEqual(['keys.txt']);
      expect(await names('eys')).toEqual(['keys.txt']);
      expect(await names('(a|b)')).toEqual([]);
      expect(await names('keys}')).toEqual([]);
    }
  });

  it('says that filters need an index, unless a mode without filters is asked for', async () => {
    const missing = async (url: string | URL, words: string, options: SearchOptions = {}) => {
      await using client = createResourceClient({ url });
      const found = searchResources(client, words, options);
      for await (const _ of found);
      return found.report.missing;
    };
    const reason =
      'The server has no index, so filters are searched as they are written: type:markdown in:"m+memory:///a b"';
    expect(await missing(serve.url, 'clock type:markdown in:"m+memory:///a b" "mount:m after:1"')).toEqual([
      { reason },
    ]);
    expect(await missing(serve.url, 'https://example.com note:this clock')).toEqual([]);
    for (const mode of ['literal', 'regex', 'name'] as const)
      expect(await missing(serve.url, 'type:markdown', { mode })).toEqual([]);
    expect(await missing(serving.url, 'clock type:markdown')).toEqual([]);
  });

  describe('pages that do not end', () => {
    const names = ['pattern', 'literal', 'glob', 'uri', 'context', 'cursor'];
    const properties = Object.fromEntries(names.map((name) => [name, {}]));
    let count = 0;

    it.each<[string, (cursor: unknown) => { readonly uri: string; readonly nextCursor: string }, RegExp, number]>([
      ['the same cursor', () => ({ uri: `m:///${count}`, nextCursor: 'a' }), /cursor that it had given before/, 2],
      [
        'two cursors in turn',
        (cursor) => ({ uri: `m:///${count}`, nextCursor: cursor === 'a' ? 'b' : 'a' }),
        /cursor that it had given before/,
        3,
      ],
      [
        'a circle of twenty cursors',
        (cursor) => ({ uri: `m:///${count}`, nextCursor: String((Number(cursor ?? 0) + 1) % 20) }),
        /cursor that it had given before/,
        21,
      ],
      ['new cursors, the same match', () => ({ uri: 'm:///a', nextCursor: `c${count}` }), /without a new match/, 101],
      ['a very long cursor', () => ({ uri: 'm:///a', nextCursor: 'x'.repeat(70_000) }), /cursor that is too long/, 1],
    ])('are an error: %s', async (_, page, message, calls) => {
      count = 0;
      await using server = await scripted(
        {
          'tools/list': () => ({ tools: [{ name: 'search', inputSchema: { type: 'object', properties } }] }),
          'tools/call': ({ arguments: args }) => {
            count++;
            const { uri, nextCursor } = page((args as { cursor?: string }).cursor);
            return { content: [], structuredContent: { matches: [{ uri }], nextCursor } };
          },
        },
        { tools: {} },
      );
      await expect(search(server.url, 'clock')).rejects.toMatchObject({
        code: 'invalid-answer',
        message: expect.stringMatching(message),
      });
      expect(count).toBe(calls);
    });

    it('gives all matches of a hundred pages, and ends at an empty cursor', async () => {
      await using server = await scripted(
        {
          'tools/list': () => ({ tools: [{ name: 'search', inputSchema: { type: 'object', properties } }] }),
          'tools/call': ({ arguments: args }) => {
            const at = Number((args as { cursor?: string }).cursor ?? 0);
            const nextCursor = at === 99 ? '' : String(at + 1);
            return { content: [], structuredContent: { matches: [{ uri: 'm:///a', line: at }], nextCursor } };
          },
        },
        { tools: {} },
      );
      expect((await search(server.url, 'clock')).places.map(({ line }) => line)).toEqual([...Array(100).keys()]);
    });
  });

  it('leaves out malformed matches and tools', async () => {
    const names = ['pattern', 'literal', 'glob', 'uri', 'context', 'cursor'];
    const properties = Object.fromEntries(names.map((name) => [name, {}]));
    const tool = (name: string, schema: unknown) => ({ name, inputSchema: { type: 'object', properties: schema } });
    await using server = await scripted(
      {
        'tools/list': () => ({ tools: [tool('a_search', 'none'), tool('b_search', null), tool('search', properties)] }),
        'tools/call': () => ({ content: [], structuredContent: { matches: [null, 'm:///a', { uri: 'm:///b' }] } }),
      },
      { tools: {} },
    );
    expect((await search(server.url, 'clock')).places.map(({ uri }) => uri)).toEqual(['m:///b']);
  });

  it('reports why a search is invalid', async () => {
    await expect(search(serving.url, '"clock', { mode: 'ranked' })).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('phrase'),
    });
    await expect(search(serving.url, 'clock', { uri: 'm+memory:///none.txt' })).rejects.toMatchObject({
      code: 'not-found',
    });
  });
});
