/** The client library with servers without SEP-2093: it replaces missing methods by others, and reports that. */
import { describe, expect, it } from 'vitest';
import { createResourceClient, INFERRED_META_KEY, type ResourceClient } from '../../src/client/index.ts';
import { ERAS } from '../e2e/harness.ts';
import { type Answers, all, eraOf, refusal, type Scripted, scripted } from './scripted.ts';

const LISTED = [
  { uri: 'note:///readme.md', name: 'readme.md', mimeType: 'text/markdown', size: 7, 'x-stars': 5 },
  { uri: 'note:///days/one.txt', name: 'one' },
  { uri: 'note:///days/two.txt', name: 'two' },
  { uri: 'note:///days/old/three.txt', name: 'three' },
  { uri: 'other:thing', name: 'thing' },
];

const TEXTS: Readonly<Record<string, string>> = {
  'note:///readme.md': '# Notes',
  'note:///hidden.txt': 'not in the list',
};

/** A list of two pages, and a read. */
const PLAIN: Answers = {
  'resources/list': ({ cursor }) =>
    cursor === undefined ? { resources: LISTED.slice(0, 3), nextCursor: 'two' } : { resources: LISTED.slice(3) },
  'resources/read': ({ uri }) => {
    const text = TEXTS[String(uri)];
    if (text === undefined) throw refusal(-32602, { uri });
    return { contents: [{ uri, text }] };
  },
};

interface Scene extends AsyncDisposable {
  readonly server: Scripted;
  readonly resources: ResourceClient;
}

async function scene(era: 'legacy' | 'modern', answers: Answers, capabilities?: object): Promise<Scene> {
  const server = await scripted(answers, capabilities as Readonly<Record<string, unknown>> | undefined);
  const resources = createResourceClient({ url: server.url, ...eraOf[era] });
  return {
    server,
    resources,
    async [Symbol.asyncDispose]() {
      await resources.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const uris = (entries: readonly { readonly uri: string }[]): string[] => entries.map(({ uri }) => uri);

describe.each(ERAS)('a server of the %s era without SEP-2093', (era) => {
  it('is listed, with its unknown fields [2093-11]', async () => {
    await using on = await scene(era, PLAIN);
    const listing = on.resources.list();
    const found = await all(listing);
    expect(found).toEqual(LISTED);
    expect(listing.report).toMatchObject({ via: 'default-list', stopped: 'end', pages: 2 });
  });

  it('that ignores `uri` is recognised, and its flat list is split into folders [2093-11]', async () => {
    await using on = await scene(era, PLAIN);
    const listing = on.resources.list('note:///days/');
    const found = await all(listing);
    expect(listing.report).toMatchObject({ via: 'flat-list', stopped: 'end', resources: 3 });
    expect(found).toEqual([
      LISTED[1],
      LISTED[2],
      {
        uri: 'note:///days/old',
        name: 'old',
        mimeType: 'inode/directory',
        _meta: { [INFERRED_META_KEY]: true },
      },
    ]);
    const asked = on.server.asked.filter(({ params }) => String(params.uri).startsWith('vitrine-probe:'));
    expect(asked).toHaveLength(1);
    await all(on.resources.list('note:///days'));
    expect(on.server.asked.filter(({ params }) => String(params.uri).startsWith('vitrine-probe:'))).toHaveLength(1);
  });

  it('tells a missing resource from one without children, too', async () => {
    await using on = await scene(era, PLAIN);
    await expect(all(on.resources.list('note:///nothing'))).rejects.toMatchObject({ code: 'not-found' });
    await expect(all(on.resources.list('other:thing'))).rejects.toMatchObject({ code: 'not-listable' });
  });

  it('is walked with one list [2093-10]', async () => {
    await using on = await scene(era, PLAIN);
    const walk = on.resources.walk('note:///days');
    const found = await all(walk);
    expect(found.map(({ resource }) => resource.uri)).toEqual(uris(LISTED.slice(1, 4)));
    expect([...walk.report.via]).toEqual(['flat-list']);
    expect(walk.report.complete).toBe(true);
  });

  it('without resources has an empty list', async () => {
    await using on = await scene(era, {}, { tools: {} });
    expect(await all(on.resources.list())).toEqual([]);
    expect(await all(on.resources.walk())).toEqual([]);
    expect(await all(on.resources.templates())).toEqual([]);
    expect(on.server.asked).toEqual([]);
  });

  it('that lists by URI is asked for such lists, though it does not declare them [2093-4]', async () => {
    await using on = await scene(era, {
      ...PLAIN,
      'resources/list': ({ uri }) => {
        if (uri === undefined) return { resources: LISTED };
        if (uri !== 'note:///days') throw refusal(-32602, { uri });
        return { resources: [LISTED[1]] };
      },
    });
    const listing = on.resources.list('note:///days');
    expect(await all(listing)).toEqual([LISTED[1]]);
    expect(listing.report.via).toBe('scoped-list');
  });

  it.each([
    [{ 'io.modelcontextprotocol/skills': { directoryRead: true } }, 'directory-read'],
    [{ 'io.modelcontextprotocol/skills': {} }, 'flat-list'],
    [{}, 'flat-list'],
  ])('that declares %j has its folders listed by: %s', async (extensions, via) => {
    const answers: Answers = {
      ...PLAIN,
      'resources/directory/read': ({ uri, cursor }) => {
        if (uri !== 'note:///days') throw refusal(-32602, { uri });
        return cursor === undefined ? { resources: [LISTED[1]], nextCursor: '2' } : { resources: [LISTED[2]] };
      },
    };
    await using on = await scene(era, answers, { resources: {}, extensions });
    const declared = via === 'directory-read';
    const listing = on.resources.list('note:///days');
    expect((await all(listing)).slice(0, 2)).toEqual([LISTED[1], LISTED[2]]);
    expect(listing.report).toMatchObject({ via, pages: 2 });
    // The client uses the method only if it is declared (SEP-2640), and then uses no other method.
    expect(on.server.count('resources/directory/read')).toBe(declared ? 2 : 0);
    if (declared) expect(on.server.count('resources/list')).toBe(0);
  });

  it("has its folders read if that gives their children, as VS Code's file system expects", async () => {
    await using on = await scene(era, {
      ...PLAIN,
      'resources/read': ({ uri }) => {
        if (uri !== 'note:///days') throw refusal(-32002, { uri });
        return {
          contents: [
            { uri: 'note:///days/one.txt', text: 'one', 'x-mood': 'good' },
            { uri: 'note:///days/old', blob: '' },
            { uri: 'elsewhere:///x', text: 'no child' },
          ],
        };
      },
    });
    const listing = on.resources.list('note:///days/');
    expect(await all(listing)).toMatchObject([
      { uri: 'note:///days/one.txt', name: 'one.txt', size: 3, 'x-mood': 'good' },
      { uri: 'note:///days/old', name: 'old', mimeType: 'inode/directory' },
    ]);
    expect(listing.report).toMatchObject({ via: 'trailing-slash', stopped: 'end' });
  });

  it('gives metadata by its list, and by a read of the resource [2093-11]', async () => {
    await using on = await scene(era, PLAIN);
    expect(await on.resources.metadata('note:///readme.md')).toEqual({ resource: LISTED[0], source: 'list' });
    expect(await on.resources.metadata('note:///days/two.txt')).toMatchObject({ source: 'list' });
    expect(on.server.count('resources/list')).toBe(2);
    expect(await on.resources.metadata('note:///hidden.txt')).toEqual({
      resource: { uri: 'note:///hidden.txt', name: 'hidden.txt', size: 15 },
      source: 'read',
    });
    await expect(on.resources.metadata('note:///missing')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('that refuses unknown methods with another code is understood, too [2093-11]', async () => {
    let asked = 0;
    await using on = await scene(era, {
      ...PLAIN,
      'resources/metadata': () => {
        asked++;
        throw refusal(-32602);
      },
    });
    expect(await on.resources.metadata('note:///readme.md')).toMatchObject({ source: 'list' });
    expect(await on.resources.metadata('note:///days/one.txt')).toMatchObject({ source: 'list' });
    expect(asked).toBe(1);
  });

  it.each([-32002, -32602])('reports a missing resource with %i', async (code) => {
    await using on = await scene(era, {
      'resources/read': () => {
        throw refusal(code);
      },
    });
    await expect(on.resources.read('note:///x')).rejects.toMatchObject({
      name: 'ResourceClientError',
      code: 'not-found',
      uri: 'note:///x',
      retryable: false,
    });
  });

  it('that fails is quoted in the error', async () => {
    await using on = await scene(era, {
      'resources/read': () => {
        throw refusal(-32603, { detail: 7 });
      },
    });
    const failing = on.resources.read('note:///x');
    await expect(failing).rejects.toMatchObject({ code: 'failed', rpcCode: -32603, data: { detail: 7 } });
  });

  it('has windows cut by the client, between characters', async () => {
    await using on = await scene(era, {
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'aäöü' }] }),
    });
    const cut = async (offset: number, length?: number) => {
      const { primary } = await on.resources.read('note:///x', {
        range: { offset, ...(length !== undefined && { length }) },
      });
      return [primary?.form, primary?.form === 'text' ? primary.text() : primary?.bytes().length, primary?.window];
    };
    expect(await cut(0, 4)).toEqual(['text', 'aä', { offset: 0, length: 3, total: 7, cutBy: 'client' }]);
    expect(await cut(3)).toEqual(['text', 'öü', { offset: 3, length: 4, total: 7, cutBy: 'client' }]);
    expect(await cut(2, 2)).toEqual(['blob', 2, { offset: 2, length: 2, total: 7, cutBy: 'client' }]);
    await expect(cut(8)).rejects.toMatchObject({ code: 'invalid', data: { total: 7 } });
    await expect(cut(-1)).rejects.toMatchObject({ code: 'invalid' });
  });

  it('without notifications gets no subscriptions', async () => {
    await using on = await scene(era, PLAIN);
    await expect(on.resources.watch('note:///readme.md').ready).rejects.toMatchObject({ code: 'unsupported' });
    await expect(on.resources.watchList().ready).rejects.toMatchObject({ code: 'unsupported' });
  });
});
