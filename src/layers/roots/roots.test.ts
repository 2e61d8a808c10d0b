import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RootsNeeded } from '../../core/asking/needed.ts';
import { closeBodies } from '../../core/body.ts';
import { type Context, createContext } from '../../core/context.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { filesProvider } from '../../providers/files/index.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { rootsLayer } from './index.ts';

/** The layer with a client whose roots contain everything. */
const withEverything: Layer = (inner) => {
  const bounded = rootsLayer({ folder: '/served' })(inner);
  const roots: readonly string[] = ['file:///'];
  const known = (ctx: Context): Context => ({ ...ctx, roots });
  return wrapProvider(bounded, {
    // Hides the feature `roots`, since the contract cannot answer the layer's question for roots.
    features: inner.features,
    list: (uri, page, ctx) => bounded.list(uri, page, known(ctx)),
    metadata: (uri, ctx) => bounded.metadata(uri, known(ctx)),
    read: (uri, want, ctx) => bounded.read(uri, want, known(ctx)),
    ...(bounded.complete && { complete: async (request, ctx) => bounded.complete?.(request, known(ctx)) ?? EMPTY }),
    ...(bounded.watch && {
      watch: async (uri, tell, ctx) => (await bounded.watch?.(uri, tell, known(ctx))) ?? NOTHING,
    }),
    ...(bounded.search && { search: (query, ctx) => bounded.search?.(query, known(ctx)) ?? none() }),
  });
};
const EMPTY = { values: [], hasMore: false };
const NOTHING: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };
async function* none(): AsyncIterable<never> {}

layerContract('roots', withEverything);

const FILES = ['a/one.md', 'a/deep/two.md', 'b/three.md', 'b/sub/four.md', '100% #?/five.md', 'top.md'];

let base: string;
let folder: string;
let provider: ResourceProvider;

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-roots-')));
  folder = join(base, 'work');
  for (const file of FILES) {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await writeFile(join(folder, file), `text of ${file}`);
  }
  await mkdir(join(base, 'work-too'));
  await symlink(join(folder, 'b'), join(base, 'elsewhere'));
  await symlink('../b', join(folder, 'a', 'link'));
  provider = rootsLayer({ folder })(await filesProvider({ path: folder, symlinks: false }));
});

afterAll(async () => {
  await provider.close?.();
  await rm(base, { recursive: true });
});

const rootOf = (...names: readonly string[]): string => pathToFileURL(join(base, ...names)).href;
const context = (...roots: readonly string[]): Context => createContext({ roots });
const EVERYTHING = { maxBytes: 1_000_000, maxChildren: 100 };

/** Everything that lists lead to, as paths. Directories end in a slash. */
async function tree(ctx: Context): Promise<string[]> {
  const found: string[] = [];
  const walk = async (uri: string | undefined): Promise<void> => {
    const { resources } = await provider.list(uri, { limit: 100 }, ctx);
    for (const resource of resources) {
      const path = decodeURIComponent(resource.uri.slice('file:///'.length));
      found.push(resource.capabilities?.list ? `${path}/` : path);
      if (resource.capabilities?.list) await walk(resource.uri);
    }
  };
  await walk(undefined);
  return found.sort();
}

async function read(uri: string, ctx: Context): Promise<string> {
  const bodies = await provider.read(uri, EVERYTHING, ctx);
  try {
    const [body] = bodies;
    return body?.content.kind === 'bytes' ? Buffer.from(body.content.bytes).toString() : '';
  } finally {
    await closeBodies(bodies);
  }
}

const complete = async (value: string, ctx: Context): Promise<readonly string[]> => {
  const request = { uriTemplate: 'file:///{+path}', variable: 'path', value, known: {}, limit: 100 };
  return (await provider.complete?.(request, ctx))?.values ?? [];
};

describe('a resource below a root', () => {
  it('is listed, with the folders on the way to it [SEC-ROOT-2]', async () => {
    expect(await tree(context(rootOf('work', 'a')))).toEqual(['/', 'a/', 'a/deep/', 'a/deep/two.md', 'a/one.md']);
    expect(await tree(context(rootOf('work', 'b', 'sub'), rootOf('work', 'a', 'deep')))).toEqual([
      '/',
      'a/',
      'a/deep/',
      'a/deep/two.md',
      'b/',
      'b/sub/',
      'b/sub/four.md',
    ]);
  });

  it('is everything in the folder if the root is the folder or contains it', async () => {
    const all = await tree(context(rootOf('work')));
    expect(all.filter((path) => !path.endsWith('/'))).toEqual([...FILES].sort());
    expect(await tree(context(rootOf()))).toEqual(all);
    expect(await tree(context('file:///'))).toEqual(all);
  });

  it('may be a single file that is the root', async () => {
    const ctx = context(rootOf('work', 'a', 'one.md'));
    expect(await tree(ctx)).toEqual(['/', 'a/', 'a/one.md']);
    expect(await read('file:///a/one.md', ctx)).toBe('text of a/one.md');
  });

  it('may have an odd name, and may be reached through links on the way to the root', async () => {
    expect(await tree(context(rootOf('work', '100% #?')))).toContain('100% #?/five.md');
    expect(await tree(context(rootOf('elsewhere')))).toContain('b/three.md');
  });

  it('is read, described, completed and watched', async () => {
    const ctx = context(rootOf('work', 'a'));
    expect(await read('file:///a/one.md', ctx)).toBe('text of a/one.md');
    expect(await provider.metadata('file:///a/deep/', ctx)).toMatchObject({ name: 'deep' });
    expect(await complete('a/', ctx)).toEqual(['a/deep/', 'a/one.md']);
    const watch = await provider.watch?.('file:///a/one.md', () => {}, ctx);
    await watch?.[Symbol.asyncDispose]();
  });
});

describe('a resource outside of the roots', () => {
  const outside = ['file:///b', 'file:///b/three.md', 'file:///b/missing.md', 'file:///top.md', 'file:///aa'];

  it.each(outside)('is refused, whether or not it exists: %s [SEC-ROOT-2]', async (uri) => {
    const ctx = context(rootOf('work', 'a'));
    const refusal = { code: 'denied', message: /outside of the client's roots/, uri };
    await expect(provider.list(uri, { limit: 1 }, ctx)).rejects.toMatchObject(refusal);
    await expect(provider.metadata(uri, ctx)).rejects.toMatchObject(refusal);
    await expect(provider.read(uri, EVERYTHING, ctx)).rejects.toMatchObject(refusal);
    await expect(provider.watch?.(uri, () => {}, ctx)).rejects.toMatchObject(refusal);
  });

  it('is not reached through a link, which is not a resource here', async () => {
    const ctx = context(rootOf('work', 'a'));
    expect(await tree(ctx)).not.toContain('a/link/');
    await expect(read('file:///a/link/three.md', ctx)).rejects.toMatchObject({ code: 'not-found' });
  });

  it('is not offered by completion', async () => {
    const ctx = context(rootOf('work', 'a', 'deep'));
    expect(await complete('', ctx)).toEqual(['a/']);
    expect(await complete('a/', ctx)).toEqual(['a/deep/']);
    expect(await complete('b', ctx)).toEqual([]);
    expect(await complete('b/', ctx)).toEqual([]);
    expect(await complete('../', ctx)).toEqual([]);
    expect(await complete('', context(rootOf('work', '100% #?')))).toEqual(['100%25 %23%3F/']);
  });

  it.each<[string, string]>([
    ['a folder beside, whose name begins alike', 'work-too'],
    ['one that does not exist', 'nowhere'],
  ])('is every resource for %s', async (_, name) => {
    expect(await tree(context(rootOf(name)))).toEqual(['/']);
  });

  it.each([
    ['dots', () => `${rootOf('work')}/b/../a`],
    ['encoded dots', () => `${rootOf('work')}/b/%2e%2e/a`],
    ['an encoded slash', () => `${rootOf()}/work%2Fa`],
    ['a null byte', () => `${rootOf('work')}/a%00`],
    ['another host', () => `file://elsewhere${base}/work`],
    ['another scheme', () => `https://${base}/work`],
    ['no URI', () => base],
    ['nothing', () => ''],
  ])('is every resource for a root with %s', async (_, root) => {
    expect(await tree(context(root()))).toEqual(['/']);
  });

  it('is every resource if there are no roots', async () => {
    expect(await tree(context())).toEqual(['/']);
    await expect(provider.read('file:///', EVERYTHING, context())).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('a folder on the way to a root', () => {
  it('can be listed, and neither read nor watched', async () => {
    const ctx = context(rootOf('work', 'a', 'deep'));
    for (const uri of ['file:///', 'file:///a']) {
      expect(await provider.metadata(uri, ctx)).toMatchObject({ capabilities: { list: true, subscribe: false } });
      await expect(provider.read(uri, EVERYTHING, ctx)).rejects.toMatchObject({ code: 'invalid' });
      await expect(provider.watch?.(uri, () => {}, ctx)).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  it('is listed in pages', async () => {
    const ctx = context(rootOf('work', 'b'), rootOf('work', 'a'), rootOf('work', 'gone'), rootOf('work', '100% #?'));
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await provider.list('file:///', { limit: 1, cursor }, ctx);
      expect(page.resources.length).toBeLessThanOrEqual(1);
      names.push(...page.resources.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(names).toEqual(['100% #?', 'a', 'b']);
  });
});

describe('completion on the way to roots', () => {
  it.each<[string, number, readonly string[], boolean]>([
    ['', 1, ['100%25 %23%3F/'], true],
    ['', 2, ['100%25 %23%3F/', 'a/'], true],
    ['', 3, ['100%25 %23%3F/', 'a/', 'b/'], false],
    ['b', 1, ['b/'], false],
    ['100%', 1, ['100%25 %23%3F/'], false],
    ['g', 1, [], false],
    ['c', 1, [], false],
  ])('of %o with limit %i offers %j, and says whether there is more', async (value, limit, values, hasMore) => {
    const ctx = context(rootOf('work', 'a'), rootOf('work', 'b'), rootOf('work', 'gone'), rootOf('work', '100% #?'));
    const request = { uriTemplate: 'file:///{+path}', variable: 'path', value, known: {}, limit };
    expect(await provider.complete?.(request, ctx)).toEqual({
      values,
      hasMore,
      ...(!hasMore && { total: values.length }),
    });
  });
});

describe('unknown roots', () => {
  const ctx = createContext();

  it('show only the folder itself, and nothing in it', async () => {
    const { resources } = await provider.list(undefined, { limit: 10 }, ctx);
    expect(resources).toMatchObject([{ uri: 'file:///', capabilities: { list: false, subscribe: false } }]);
    expect(await provider.metadata('file:///', ctx)).toMatchObject({ name: 'work' });
    expect(await complete('', ctx)).toEqual([]);
  });

  it('make every other request ask for them', async () => {
    await expect(provider.list('file:///', { limit: 1 }, ctx)).rejects.toBeInstanceOf(RootsNeeded);
    await expect(provider.metadata('file:///a', ctx)).rejects.toBeInstanceOf(RootsNeeded);
    await expect(provider.read('file:///a/one.md', EVERYTHING, ctx)).rejects.toBeInstanceOf(RootsNeeded);
    await expect(provider.watch?.('file:///a', () => {}, ctx)).rejects.toBeInstanceOf(RootsNeeded);
  });
});

describe('search', () => {
  const uris = async (ctx: Context, query: { uri?: string; glob?: string }): Promise<string[]> => {
    const found: string[] = [];
    for await (const { uri } of provider.search?.({ pattern: 'text of', literal: true, ...query }, ctx) ?? []) {
      found.push(uri);
    }
    return found.sort();
  };

  it('finds resources below a root, wherever the search begins [SEC-ROOT-2]', async () => {
    const ctx = context(rootOf('work', 'a'), rootOf('work', 'b', 'sub'), rootOf('work', 'gone'));
    const all = ['file:///a/deep/two.md', 'file:///a/one.md', 'file:///b/sub/four.md'];
    expect(await uris(ctx, {})).toEqual(all);
    expect(await uris(ctx, { uri: 'file:///b' })).toEqual(['file:///b/sub/four.md']);
    expect(await uris(ctx, { uri: 'file:///a/deep' })).toEqual(['file:///a/deep/two.md']);
    expect(await uris(ctx, { glob: '*/**' })).toEqual(all);
    await expect(uris(ctx, { uri: 'file:///top.md' })).rejects.toMatchObject({ code: 'denied' });
    await expect(uris(createContext(), {})).rejects.toBeInstanceOf(RootsNeeded);
  });
});
