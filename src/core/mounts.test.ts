import { describe, expect, it } from 'vitest';
import type { InputRequest } from '../protocol/input-required.ts';
import { memoryProvider } from '../providers/memory/index.ts';
import { flatProvider } from '../testing/flat-fixture.ts';
import { listAll, readLeaf, urisOf } from '../testing/observe.ts';
import { QuestionsAsked } from './asking/needed.ts';
import { chunksOf } from './body.ts';
import { createContext } from './context.ts';
import { PeerError, ResourceError, toWireError } from './errors.ts';
import { wrapProvider } from './layer.ts';
import type { Mount } from './mounts/mount.ts';
import { mountTree, publishUri } from './mounts.ts';
import { createNotes } from './notes.ts';
import type { ResourceProvider } from './provider.ts';
import { parseUriTemplate } from './uri-template.ts';

const ctx = createContext();
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const mounted = (provider: ResourceProvider): ResourceProvider => mountTree([{ name: 'docs', provider }]);

describe('published URIs [CB-1]', () => {
  const opaque = flatProvider({
    resources: new Map([
      ['urn:a:b', bytes('a urn')],
      ['memo:x', bytes('a memo')],
      ['memo:1+1', bytes('a sum')],
      ['git+ssh://host/a+b', bytes('a native scheme with a plus')],
      ['ui://server/page', bytes('a user interface')],
    ]),
  });

  it.each([
    ['file:///guide/intro.md', 'docs+file:///guide/intro.md'],
    ['file:///{+path}', 'docs+file:///{+path}'],
    ['urn:a:b', 'docs+urn:a:b'],
    ['memo:x', 'docs+memo:x'],
    ['git+ssh://host/a+b', 'docs+git+ssh://host/a+b'],
    ['ui://server/page', 'ui://docs+server/page'],
    ['UI://server/page', 'ui://docs+server/page'],
    ['ui:page', 'docs+ui:page'],
  ])('%s is published as %s', (native, uri) => {
    const provider = flatProvider({ resources: new Map() });
    expect(publishUri({ name: 'docs', provider }, native)).toBe(uri);
    expect(publishUri({ name: 'docs', provider, prefix: 'none' }, native)).toBe(native);
  });

  it('lead back to the provider’s URIs, also for opaque URIs and those of user interfaces', async () => {
    const tree = mountTree([
      { name: 'docs', provider: opaque },
      { name: 'other', provider: opaque },
    ]);
    const uris = urisOf(await listAll(tree, undefined));
    expect(uris.sort()).toEqual([
      'docs+git+ssh://host/a+b',
      'docs+memo:1+1',
      'docs+memo:x',
      'docs+urn:a:b',
      'other+git+ssh://host/a+b',
      'other+memo:1+1',
      'other+memo:x',
      'other+urn:a:b',
      'ui://docs+server/page',
      'ui://other+server/page',
    ]);
    for (const uri of uris) {
      expect(await tree.metadata(uri, ctx)).toMatchObject({ uri });
      const { bodies } = await readLeaf(tree, uri);
      expect(bodies[0]?.resource.uri).toBe(uri);
    }
    expect((await readLeaf(tree, 'other+memo:1+1')).bytes).toEqual(bytes('a sum'));
  });

  it('are found in any case of the mount and the scheme, which RFC 3986 does not tell apart', async () => {
    const tree = mounted(memoryProvider({ resources: { 'Note.txt': { text: 'hello' } } }));
    expect(await tree.metadata('DOCS+MEMORY:///Note.txt', ctx)).toMatchObject({ uri: 'docs+memory:///Note.txt' });
    await expect(tree.metadata('docs+memory:///note.txt', ctx)).rejects.toMatchObject({ code: 'not-found' });
    const bare = mountTree([
      { name: 'docs', provider: memoryProvider({ resources: { a: { text: '' } } }), prefix: 'none' },
    ]);
    expect(await bare.metadata('Memory:///a', ctx)).toMatchObject({ uri: 'memory:///a' });
  });

  it('of a mount depend on nothing but that mount', async () => {
    const provider = memoryProvider({ resources: { a: { text: '' } } });
    const alone = await listAll(mountTree([{ name: 'docs', provider }]), undefined);
    const among = await listAll(
      mountTree([
        { name: 'a', provider: opaque },
        { name: 'docs', provider },
        { name: 'z', provider: opaque },
      ]),
      undefined,
    );
    expect(among).toEqual(expect.arrayContaining(alone));
  });

  it('may have a + in the scheme of a mount without a prefix', async () => {
    const tree = mountTree([{ name: 'docs', provider: opaque, prefix: 'none' }]);
    expect(await tree.metadata('git+ssh://host/a+b', ctx)).toMatchObject({ uri: 'git+ssh://host/a+b' });
    expect(await tree.metadata('ui://server/page', ctx)).toMatchObject({ uri: 'ui://server/page' });
  });

  it('declare their schemes', () => {
    expect(mounted(opaque).features.schemes.toSorted()).toEqual(['docs+git+ssh', 'docs+memo', 'docs+urn', 'ui']);
  });

  it.each([
    '',
    'docs',
    'docs+',
    'docs+memo',
    'nobody+memo:x',
    '+memo:x',
    'memo:x',
    'urn:a:b',
    'ui://server/page',
    'ui:x',
    '💥',
  ])('no mount has %j: it is not found', async (uri) => {
    const tree = mounted(opaque);
    for (const work of [
      () => tree.metadata(uri, ctx),
      () => tree.list(uri, { limit: 1 }, ctx),
      () => tree.read(uri, { maxBytes: 1, maxChildren: 1 }, ctx),
    ]) {
      await expect(work()).rejects.toMatchObject({ code: 'not-found', uri });
    }
  });
});

describe('templates of mounts [RES-3]', () => {
  const tree = mountTree([
    { name: 'a', provider: memoryProvider({ resources: { 'guide/intro.md': { text: '' } } }) },
    { name: 'none', provider: { ...flatProvider({ resources: new Map([['memo:x', bytes('')]]) }) } },
    { name: 'b', provider: memoryProvider({ scheme: 'notes', resources: { 'b.md': { text: '' } } }) },
  ]);

  it('are published as URIs are, and lead to published URIs', async () => {
    const { resourceTemplates } = (await tree.listTemplates?.({ limit: 10 }, ctx)) ?? { resourceTemplates: [] };
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'a+memory:///{+path}',
      'b+notes:///{+path}',
    ]);
    const template = parseUriTemplate('a+memory:///{+path}');
    expect(template.match('a+memory:///guide/intro.md')).toEqual({ path: 'guide/intro.md' });
    expect(await tree.metadata(template.expand({ path: 'guide/intro.md' }), ctx)).toMatchObject({ name: 'intro.md' });
  });

  it('are completed by their own mount', async () => {
    const complete = (uriTemplate: string) =>
      tree.complete?.({ uriTemplate, variable: 'path', value: '', known: {}, limit: 10 }, ctx);
    expect((await complete('a+memory:///{+path}'))?.values).toEqual(['guide/']);
    expect((await complete('b+notes:///{+path}'))?.values).toEqual(['b.md']);
    expect(await complete('none+memo:{name}')).toEqual({ values: [], hasMore: false });
    await expect(complete('c+memory:///{+path}')).rejects.toMatchObject({
      code: 'not-found',
      uri: 'c+memory:///{+path}',
    });
    await expect(complete('a+memory:///{path}')).rejects.toMatchObject({ code: 'invalid', uri: 'a+memory:///{path}' });
  });
});

describe('errors of mounts', () => {
  const failing = (error: Error, content?: () => AsyncIterable<Uint8Array>): ResourceProvider =>
    wrapProvider(memoryProvider(), {
      list: () => Promise.reject(error),
      metadata: () => Promise.reject(error),
      read: async () => {
        if (content === undefined) throw error;
        return [{ resource: { uri: 'memory:///a', name: 'a' }, content: { kind: 'stream', open: content } }];
      },
    });
  const broken = new ResourceError('unavailable', 'Not now', { uri: 'memory:///a', details: { since: 7 } });

  it('name the URI that was asked for, and keep the rest', async () => {
    const tree = mounted(failing(broken));
    const uri = 'docs+memory:///a';
    const expected = { code: 'unavailable', message: 'Not now', uri, details: { since: 7 } };
    await expect(tree.metadata(uri, ctx)).rejects.toMatchObject(expected);
    await expect(tree.list(uri, { limit: 1 }, ctx)).rejects.toMatchObject(expected);
    await expect(tree.read(uri, { maxBytes: 1, maxChildren: 1 }, ctx)).rejects.toMatchObject(expected);
    await expect(tree.list(undefined, { limit: 1 }, ctx)).rejects.toMatchObject(expected);
  });

  it('name it also when they come midway in a stream', async () => {
    async function* content(): AsyncIterable<Uint8Array> {
      yield bytes('half');
      throw broken;
    }
    const [body] = await mounted(failing(broken, content)).read(
      'docs+memory:///a',
      { maxBytes: 9, maxChildren: 1 },
      ctx,
    );
    const drain = async (): Promise<void> => {
      for await (const _chunk of chunksOf(body?.content ?? { kind: 'bytes', bytes: bytes('') }));
    };
    await expect(drain()).rejects.toMatchObject({ code: 'unavailable', uri: 'docs+memory:///a' });
  });

  it('that are no ResourceErrors pass as they are', async () => {
    const bug = new TypeError('a bug');
    await expect(mounted(failing(bug)).metadata('docs+memory:///a', ctx)).rejects.toBe(bug);
  });
});

describe('the answer of another server, in a mount', () => {
  const item = { uri: 'memo:x', name: 'x', text: 'x', unknown: { uri: 'memo:x' } };
  const provider: ResourceProvider = {
    ...flatProvider({ resources: new Map([['memo:x', bytes('x')]]) }),
    read: async () => [{ resource: { uri: 'memo:x', name: 'x' }, content: { kind: 'bytes', bytes: bytes('x') }, item }],
  };

  it('has the published URI, and every other field as it came', async () => {
    const { bodies } = await readLeaf(mountTree([{ name: 'docs', provider }]), 'docs+memo:x');
    expect(bodies[0]).toMatchObject({ resource: { uri: 'docs+memo:x' } });
    expect(bodies[0]?.item).toEqual({ ...item, uri: 'docs+memo:x' });
    const bare = await mountTree([{ name: 'docs', provider, prefix: 'none' }]).read(
      'memo:x',
      { maxBytes: 9, maxChildren: 1 },
      ctx,
    );
    expect(bare[0]?.item).toBe(item);
  });

  it('has published URIs in its questions, as an error and while it reads', async () => {
    const link = (uri: string): InputRequest => ({
      method: 'sampling/createMessage',
      params: { messages: [{ role: 'user', content: { type: 'resource_link', uri, name: 'x' } }], maxTokens: 1 },
    });
    const sent: InputRequest[] = [];
    const ask = async (request: InputRequest): Promise<unknown> => sent.push(request);
    const asking: ResourceProvider = {
      ...provider,
      async read(uri, _want, { client, signal }) {
        await client?.ask?.(link(uri), signal);
        throw new QuestionsAsked({ q: link(uri) }, 'state', uri);
      },
    };
    const client = { elicitation: false, sampling: true, roots: false, ask };
    for (const [prefix, uri] of [
      ['name', 'docs+memo:x'],
      ['none', 'memo:x'],
    ] as const) {
      const tree = mountTree([{ name: 'docs', provider: asking, prefix }]);
      const reading = tree.read(uri, { maxBytes: 9, maxChildren: 1 }, createContext({ client }));
      const refused = await reading.catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(QuestionsAsked);
      expect(refused).toMatchObject({ uri, state: 'state', requests: { q: link(uri) } });
      expect(sent.splice(0)).toEqual([link(uri)]);
    }
  });

  it('names the published URI in its data if it is an error', async () => {
    const error = new PeerError({ code: -32002, message: 'Gone', data: { uri: 'memo:x', kept: 1 } }, 'memo:x');
    const tree = mountTree([{ name: 'docs', provider: { ...provider, metadata: () => Promise.reject(error) } }]);
    const refused = await tree.metadata('docs+memo:x', ctx).catch((thrown: unknown) => thrown);
    expect(toWireError(refused)).toEqual({ code: -32602, message: 'Gone', data: { uri: 'docs+memo:x', kept: 1 } });
  });

  it('is as fresh as it says; if it does not say, the server’s own freshness counts', async () => {
    const own = { ttlMs: 60_000, cacheScope: 'public' } as const;
    const hint = { ttlMs: 5_000, cacheScope: 'private' } as const;
    const fresh = (hints: boolean): ResourceProvider => ({
      ...provider,
      features: { ...provider.features, hints },
      async metadata(uri, { notes }) {
        if (hints) notes?.fresh({ ...hint, ttlMs: 90_000 });
        return { uri, name: 'x' };
      },
    });
    const freshness = async (hints: boolean) => {
      const notes = createNotes();
      const tree = mountTree([{ name: 'docs', provider: fresh(hints) }]);
      await tree.metadata('docs+memo:x', createContext({ notes }));
      return notes.finish({}, own);
    };
    expect(await freshness(true)).toEqual({ ttlMs: 90_000, cacheScope: 'private' });
    expect(await freshness(false)).toEqual(own);
  });
});

describe('roots of many mounts', () => {
  /** Mounts of 0, 1, 2 … 4 roots, so that pages end within mounts, between them, and at empty ones. */
  const mounts = Array.from({ length: 25 }, (_, index): Mount => {
    const uris = Array.from({ length: index % 5 }, (_unused, root) => `memo:${root}`);
    return {
      name: `m${index}`,
      provider: flatProvider({ resources: new Map(uris.map((uri) => [uri, bytes(uri)])) }),
    };
  });
  const expected = mounts.flatMap(({ name }, index) =>
    Array.from({ length: index % 5 }, (_, root) => `${name}+memo:${root}`),
  );

  it.each([1, 2, 3, 4, 7, 50, 100])('come in the order of the mounts, in pages of %i', async (size) => {
    expect(urisOf(await listAll(mountTree(mounts), undefined, size))).toEqual(expected);
  });

  it('go on after a mount was added in between, and fail if the mount of their cursor is gone', async () => {
    const first = await mountTree(mounts).list(undefined, { limit: 12 }, ctx);
    const cursor = first.nextCursor;
    const added = { name: 'added', provider: flatProvider({ resources: new Map([['memo:new', bytes('')]]) }) };
    const rest = await mountTree([added, ...mounts]).list(undefined, { limit: 100, cursor }, ctx);
    expect([...urisOf(first.resources), ...urisOf(rest.resources)]).toEqual(expected);
    await expect(mountTree([added]).list(undefined, { limit: 1, cursor }, ctx)).rejects.toMatchObject({
      code: 'invalid',
    });
  });
});

describe('a mount that is not listed', () => {
  const withText = (): ResourceProvider => memoryProvider({ resources: { 'a.txt': { text: 'a clock' } } });
  const away = (): ResourceProvider => {
    const inner = withText();
    const gone = async (): Promise<never> => {
      throw new ResourceError('unavailable', 'It is out of reach');
    };
    const { features, ...rest } = wrapProvider(inner, { list: gone, metadata: gone, read: gone });
    return { ...rest, features: { ...features, remote: true } };
  };
  const found = async (mounts: readonly Mount[], query: { pattern?: string; glob?: string; uri?: string }) => {
    const notes = createNotes();
    const uris: string[] = [];
    const all = { pattern: query.pattern, literal: true, glob: query.glob, uri: query.uri };
    for await (const { uri } of mountTree(mounts).search?.(all, { ...ctx, notes }) ?? []) uris.push(uri);
    return { uris, result: notes.finish({}, { ttlMs: 0, cacheScope: 'private' }) };
  };
  const shown: Mount = { name: 'shown', provider: withText() };
  const quiet: Mount = { name: 'quiet', provider: withText(), listed: false };

  it('is not searched without a URI, as it is in no list', async () => {
    for (const query of [{ pattern: 'clock' }, { glob: '*.txt' }]) {
      expect((await found([quiet, shown], query)).uris).toEqual(['shown+memory:///a.txt']);
      expect((await found([quiet], query)).uris).toEqual([]);
    }
    expect(urisOf(await listAll(mountTree([quiet, shown]), undefined))).toEqual(['shown+memory:///']);
  });

  it('is searched below its own URIs', async () => {
    const { uris } = await found([quiet, shown], { pattern: 'clock', uri: 'quiet+memory:///' });
    expect(uris).toEqual(['quiet+memory:///a.txt']);
    await expect(found([quiet, { ...shown, provider: away() }], { pattern: 'clock' })).rejects.toThrow('out of reach');
  });

  it('is not missing from a search while it is out of reach', async () => {
    const { uris, result } = await found([{ ...quiet, provider: away() }, shown], { pattern: 'clock' });
    expect(uris).toEqual(['shown+memory:///a.txt']);
    expect(JSON.stringify(result)).not.toContain('quiet');
  });
});
