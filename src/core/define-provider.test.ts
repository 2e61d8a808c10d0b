/** `defineProvider`: every form of a definition is held to the provider contract; then what the contract leaves open. */
import { describe, expect, it } from 'vitest';
import type { Leaves, ProviderFixture } from '../testing/fixture.ts';
import { providerContract } from '../testing/provider-contract.ts';
import { chunksOf } from './body.ts';
import { createContext } from './context.ts';
import { type DefinedResource, defineProvider, type ProviderDefinition, type TellChange } from './define-provider.ts';
import type { ResourceProvider } from './provider.ts';
import { parseTreeUri, treeUri } from './uri.ts';

const ctx = createContext();
const ALL = { maxBytes: 1_000_000, maxChildren: 1_000 };
const encoder = new TextEncoder();

const pathOf = (uri: string): string => parseTreeUri(uri, 'tree').segments.join('/');
const uriOf = (path: string): string => treeUri('tree', path === '' ? [] : path.split('/'));

/** A tree of leaves that reports its changes, in the simplest definition: arrays, and no metadata. */
function tree(seed: Leaves, more: (leaves: Map<string, Uint8Array>) => Partial<ProviderDefinition> = () => ({})) {
  const leaves = new Map(seed);
  const listeners = new Set<TellChange>();
  const tell = (path: string, listed: boolean): void => {
    for (const listener of listeners) {
      listener(uriOf(path));
      if (!listed) continue;
      listener();
      for (let at = path; at !== ''; ) {
        at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
        listener(uriOf(at));
      }
    }
  };
  const put = (path: string, text: string): void => void leaves.set(path, encoder.encode(text));
  const provider = defineProvider({
    name: 'tree',
    scheme: 'tree',
    list: (uri) => (uri === undefined ? [root] : childrenOf(leaves, pathOf(uri))),
    read: (uri) => leaves.get(pathOf(uri)),
    watch: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    ...more(leaves),
  });
  const fixture: ProviderFixture = {
    provider,
    leaves: seed,
    uriOf,
    hierarchical: true,
    mutate: {
      create(path, text) {
        put(path, text);
        tell(path, true);
      },
      replace(path, text) {
        put(path, text);
        tell(path, false);
      },
      remove(path) {
        leaves.delete(path);
        tell(path, true);
      },
    },
    close: async () => provider.close?.(),
  };
  return { fixture, provider, listeners };
}

const root: DefinedResource = { uri: 'tree:///', mimeType: 'inode/directory' };

function childrenOf(leaves: Leaves, container: string): DefinedResource[] {
  const prefix = container === '' ? '' : `${container}/`;
  const children = new Map<string, DefinedResource>();
  for (const path of leaves.keys()) {
    if (!path.startsWith(prefix)) continue;
    const [name = '', ...rest] = path.slice(prefix.length).split('/');
    const uri = uriOf(prefix + name);
    children.set(name, rest.length > 0 ? { uri, mimeType: 'inode/directory' } : { uri });
  }
  return [...children.values()];
}

providerContract('defined by arrays', (seed) => tree(seed).fixture);

providerContract(
  'defined by pages and metadata, in streams',
  (seed) =>
    tree(seed, (leaves) => ({
      list(uri, { cursor = '', limit }) {
        const all = uri === undefined ? [root] : childrenOf(leaves, pathOf(uri));
        const rest = all
          .map((each) => each.uri)
          .sort()
          .filter((each) => each > cursor);
        const resources = all.filter((each) => rest.slice(0, limit).includes(each.uri));
        resources.sort((a, b) => (a.uri < b.uri ? -1 : 1));
        return { resources, nextCursor: rest.length > limit ? rest[limit - 1] : undefined };
      },
      metadata(uri) {
        const path = pathOf(uri);
        if (uri.endsWith('/') && leaves.has(path)) return undefined;
        if (leaves.has(path)) return { uri: uriOf(path) };
        const isRoot = path === '';
        return isRoot || childrenOf(leaves, path).length > 0
          ? { uri: uriOf(path), mimeType: 'inode/directory' }
          : undefined;
      },
      async read(uri, _want, { signal }) {
        const bytes = leaves.get(pathOf(uri));
        if (bytes === undefined) return undefined;
        async function* open(): AsyncIterable<Uint8Array> {
          for (let at = 0; at < (bytes?.byteLength ?? 0); at += 4_099) {
            signal.throwIfAborted();
            yield bytes?.subarray(at, at + 4_099) ?? new Uint8Array();
          }
        }
        return { open, size: bytes.byteLength };
      },
    })).fixture,
);

providerContract('defined flat, with opaque URIs', (seed) => {
  const leaves = new Map(
    [...seed].slice(0, 9).map(([, bytes], index): [string, Uint8Array] => [`leaf${index}`, bytes]),
  );
  const provider = defineProvider({
    name: 'flat',
    scheme: 'flat',
    list: () => [...leaves.keys()].map((name) => ({ uri: `flat:${name}` })),
    read: (uri) => leaves.get(uri.slice('flat:'.length)),
  });
  return {
    provider,
    leaves,
    roots: [...leaves.keys()],
    uriOf: (path) => `flat:${path.split('/').map(encodeURIComponent).join('/')}`,
    close: async () => provider.close?.(),
  };
});

async function textOf(provider: ResourceProvider, uri: string): Promise<string> {
  const [body] = await provider.read(uri, ALL, ctx);
  if (body === undefined) throw new Error(`${uri} has no body`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(body.content)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

describe('a definition', () => {
  it('has the features and methods of its definition, and no others', () => {
    const bare = defineProvider({ name: 'bare', scheme: ['a', 'b'], list: () => [], read: () => undefined });
    expect(bare.features).toEqual({
      schemes: ['a', 'b'],
      watch: false,
      templates: false,
      completion: false,
      search: false,
      ranges: false,
    });
    expect(Object.keys(bare).sort()).toEqual(['close', 'features', 'list', 'metadata', 'name', 'read']);
  });

  it('fills in names, types and capabilities, and keeps what is said [2093-3]', async () => {
    const provider = defineProvider({
      name: 'notes',
      scheme: 'note',
      list: (uri) =>
        uri === undefined
          ? [{ uri: 'note:///', mimeType: 'inode/directory' }]
          : [{ uri: 'note:///a%20b.md' }, { uri: 'note:///c', name: 'Sea', mimeType: 'text/csv', size: 3 }],
      read: () => 'text',
    });
    const { resources } = await provider.list('note:///', { limit: 10 }, ctx);
    expect(resources).toEqual([
      {
        uri: 'note:///a%20b.md',
        name: 'a b.md',
        mimeType: 'text/markdown',
        capabilities: { list: false, subscribe: false },
      },
      { uri: 'note:///c', name: 'Sea', mimeType: 'text/csv', size: 3, capabilities: { list: false, subscribe: false } },
    ]);
    expect(await provider.metadata('note:///', ctx)).toMatchObject({ name: 'notes', capabilities: { list: true } });
  });

  it('takes text, bytes, and a type that only the content tells', async () => {
    const contents = { text: { text: 'é', mimeType: 'text/x-e' }, bytes: { bytes: encoder.encode('b') }, plain: 'p' };
    const provider = defineProvider({
      name: 'kinds',
      scheme: 'kind',
      list: () => Object.keys(contents).map((name) => ({ uri: `kind:${name}` })),
      read: (uri) => contents[uri.slice(5) as keyof typeof contents],
    });
    expect(await Promise.all(['text', 'bytes', 'plain'].map((name) => textOf(provider, `kind:${name}`)))).toEqual([
      'é',
      'b',
      'p',
    ]);
    const [body] = await provider.read('kind:text', ALL, ctx);
    expect(body?.resource.mimeType).toBe('text/x-e');
  });

  it('says that metadata is needed rather than look through a list without end', async () => {
    let asked = 0;
    const provider = defineProvider({
      name: 'endless',
      scheme: 'n',
      list: (_uri, { cursor = '0', limit }) => {
        asked++;
        const from = Number(cursor);
        const resources = Array.from({ length: limit }, (_, index) => ({ uri: `n:${from + index}` }));
        return { resources, nextCursor: String(from + limit) };
      },
      read: () => '',
    });
    await expect(provider.metadata('n:none', ctx)).rejects.toMatchObject({ code: 'internal' });
    expect(asked).toBeLessThan(30);
  });

  it('says so of pages without entries, too, which have no end', async () => {
    let asked = 0;
    const provider = defineProvider({
      name: 'empty',
      scheme: 'n',
      list: () => {
        if (++asked > 20_000) throw new Error('the search does not end');
        return { resources: [], nextCursor: String(asked) };
      },
      read: () => '',
    });
    await expect(provider.metadata('n:none', ctx)).rejects.toMatchObject({
      code: 'internal',
      message: 'The lists of empty are too long to look it up; its provider needs metadata()',
    });
    expect(asked).toBeLessThan(11_000);
  });

  it('finds resources of templates, however long its lists are', async () => {
    const entry = (index: number) => ({ uri: `n:${index}` });
    const lists: readonly Pick<ProviderDefinition, 'list'>[] = [
      { list: () => Array.from({ length: 10_001 }, (_, index) => entry(index)) },
      {
        list(_uri, { cursor = '0', limit }) {
          const from = Number(cursor);
          const resources = Array.from({ length: limit }, (_, index) => entry(from + index));
          return { resources, nextCursor: String(from + limit) };
        },
      },
    ];
    for (const { list } of lists) {
      const templates = [{ uriTemplate: 'n:by/{id}', name: 'by', read: () => 'found' }];
      const provider = defineProvider({ name: 'long', scheme: 'n', list, read: () => '', templates });
      expect(await provider.metadata('n:by/7', ctx)).toMatchObject({ uri: 'n:by/7', name: 'by' });
    }
  });

  it('asks once for a complete list, however long, and finds its last entry', async () => {
    let asked = 0;
    const all = Array.from({ length: 20_000 }, (_, index) => ({ uri: `n:${index}` })).reverse();
    const provider = defineProvider({
      name: 'long',
      scheme: 'n',
      list: () => {
        asked++;
        return all;
      },
      read: () => '',
    });
    expect(await provider.metadata('n:999', ctx)).toMatchObject({ uri: 'n:999' });
    expect(await provider.metadata('n:0', ctx)).toMatchObject({ uri: 'n:0' });
    await expect(provider.metadata('n:none', ctx)).rejects.toMatchObject({ code: 'not-found' });
    expect(asked).toBe(3);
  });
});

describe('the templates of a definition', () => {
  const ids = ['alpha', 'alps', 'beta'];
  const provider = defineProvider({
    name: 'things',
    scheme: 'thing',
    list: () => [{ uri: 'thing://fixed' }],
    read: (uri) => `fixed ${uri}`,
    templates: [
      {
        uriTemplate: 'thing://{id}/data',
        name: 'data of a thing',
        mimeType: 'application/json',
        metadata: ({ id }) => (ids.includes(String(id)) ? { title: `Thing ${id}` } : undefined),
        read: ({ id }) => JSON.stringify({ id }),
        complete: { id: () => [...ids, 'alpha'] },
      },
      { uriTemplate: 'thing://any/{+rest}', name: 'anything', read: ({ rest }) => `any ${rest}` },
    ],
  });

  it('give resources that no list has [RES-3]', async () => {
    expect(await provider.metadata('thing://alpha/data', ctx)).toEqual({
      uri: 'thing://alpha/data',
      name: 'data of a thing',
      title: 'Thing alpha',
      mimeType: 'application/json',
      capabilities: { list: false, subscribe: false },
    });
    expect(await textOf(provider, 'thing://alpha/data')).toBe('{"id":"alpha"}');
    expect(await textOf(provider, 'thing://any/x/y')).toBe('any x/y');
    expect(await textOf(provider, 'thing://fixed')).toBe('fixed thing://fixed');
  });

  it('have no resource where their metadata says so', async () => {
    for (const work of [
      () => provider.metadata('thing://gamma/data', ctx),
      () => provider.read('thing://gamma/data', ALL, ctx),
      () => provider.list('thing://gamma/data', { limit: 1 }, ctx),
    ]) {
      await expect(work()).rejects.toMatchObject({ code: 'not-found', uri: 'thing://gamma/data' });
    }
  });

  it('are listed as the wire has them, in pages', async () => {
    const first = await provider.listTemplates?.({ limit: 1 }, ctx);
    expect(first?.resourceTemplates).toEqual([
      { uriTemplate: 'thing://{id}/data', name: 'data of a thing', mimeType: 'application/json' },
    ]);
    const second = await provider.listTemplates?.({ limit: 1, cursor: first?.nextCursor }, ctx);
    expect(second).toEqual({
      resourceTemplates: [{ uriTemplate: 'thing://any/{+rest}', name: 'anything' }],
      nextCursor: undefined,
    });
  });

  it('complete with the values that begin with the typed text, once each, up to the limit [SEC-UTIL-5]', async () => {
    const ask = (value: string, limit: number) =>
      provider.complete?.({ uriTemplate: 'thing://{id}/data', variable: 'id', value, known: {}, limit }, ctx);
    expect(await ask('al', 10)).toEqual({ values: ['alpha', 'alps'], total: 2, hasMore: false });
    expect(await ask('', 2)).toEqual({ values: ['alpha', 'alps'], total: 3, hasMore: true });
  });
});

describe('the watch of a definition', () => {
  it('is opened once for all watchers, notifies those of the URI, and ends with the last one [RES-4, RES-7]', async () => {
    const { provider, listeners } = tree(new Map([['a.txt', encoder.encode('a')]]));
    const told: string[] = [];
    const first = await provider.watch?.('tree:///a.txt', (event) => told.push(`first ${event.kind}`), ctx);
    const second = await provider.watch?.(undefined, (event) => told.push(`second ${event.kind}`), ctx);
    expect(listeners.size).toBe(1);
    for (const listener of listeners) {
      listener('tree:///a.txt');
      listener('tree:///b.txt');
      listener();
    }
    expect(told).toEqual(['first updated', 'second list-changed']);
    await first?.[Symbol.asyncDispose]();
    expect(listeners.size).toBe(1);
    await second?.[Symbol.asyncDispose]();
    await second?.[Symbol.asyncDispose]();
    expect(listeners.size).toBe(0);
  });

  it('that cannot be opened fails its first watcher, and is tried again for the next one', async () => {
    let tries = 0;
    const provider = defineProvider({
      name: 'shy',
      scheme: 'shy',
      list: () => [{ uri: 'shy:a' }],
      read: () => '',
      watch: () => {
        if (++tries === 1) throw new Error('not yet');
        return () => {};
      },
    });
    await expect(provider.watch?.('shy:a', () => {}, ctx)).rejects.toThrow('not yet');
    const handle = await provider.watch?.('shy:a', () => {}, ctx);
    await handle?.[Symbol.asyncDispose]();
    expect(tries).toBe(2);
  });

  it('ends when the provider is closed', async () => {
    const { provider, listeners } = tree(new Map([['a.txt', encoder.encode('a')]]));
    await provider.watch?.('tree:///a.txt', () => {}, ctx);
    expect(listeners.size).toBe(1);
    await provider.close?.();
    expect(listeners.size).toBe(0);
  });
});
