import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { ResourceError, type ResourceErrorCode } from '../../core/errors.ts';
import { wrapProvider } from '../../core/layer.ts';
import { mountTree } from '../../core/mounts.ts';
import type { Page, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { type MemoryProvider, memoryProvider } from '../../providers/memory/index.ts';
import { listAll } from '../../testing/observe.ts';
import { MAX_LISTS, type WalkLimits, walkPage } from './walk.ts';

const LIMITS: WalkLimits = { pageSize: 100, maxListed: 100_000, maxDepth: 32 };

const memoryOf = (paths: Iterable<string>): MemoryProvider =>
  memoryProvider({ resources: Object.fromEntries([...paths].map((path) => [path, { text: path }])) });

interface Walked {
  readonly uris: string[];
  readonly pages: number;
  readonly truncatedBy: string | undefined;
  readonly positions: readonly string[];
}

/** All pages of a walk. `between` runs before each page but the first. */
async function walk(
  provider: ResourceProvider,
  limits: Partial<WalkLimits> = {},
  between: (page: number) => void = () => {},
): Promise<Walked> {
  const uris: string[] = [];
  const positions: string[] = [];
  const all = { ...LIMITS, ...limits };
  for (let pages = 1; pages < 10_000; pages++) {
    const page = await walkPage(provider, positions.at(-1), all, createContext());
    expect(page.resources.length).toBeLessThanOrEqual(all.pageSize);
    uris.push(...page.resources.map(({ uri }) => uri));
    if (page.position === undefined) return { uris, pages, truncatedBy: page.truncatedBy, positions };
    expect(page.truncatedBy, 'only the last page says that it is not all').toBeUndefined();
    positions.push(page.position);
    between(pages);
  }
  throw new Error('The walk does not end');
}

const short = (uris: readonly string[]): string[] => uris.map((uri) => uri.slice('memory:///'.length));

/** Every URI of a tree, level by level, found in another way than the walk. */
async function levelsOf(provider: ResourceProvider): Promise<string[]> {
  const found: string[] = [];
  let level = await listAll(provider, undefined);
  while (level.length > 0) {
    found.push(...level.map(({ uri }) => uri));
    const containers = level.filter((resource) => resource.capabilities?.list);
    level = (await Promise.all(containers.map(({ uri }) => listAll(provider, uri)))).flat();
  }
  return found;
}

const SMALL = ['z.txt', 'a/x.txt', 'a/deep/er/leaf.txt', 'a/deep/b.txt', 'b/y.txt'];

/** Wider than one look on the way down, on two levels. */
const WIDE = Array.from({ length: 70 }, (_, index) => `d${String(index).padStart(2, '0')}`).flatMap((folder) => [
  `${folder}/leaf.txt`,
  `${folder}/one/leaf.txt`,
  `${folder}/two/three/leaf.txt`,
]);

describe('the walk of a tree', () => {
  it('goes breadth first, in the order of the lists', async () => {
    expect(short((await walk(memoryOf(SMALL))).uris)).toEqual([
      '',
      'a',
      'b',
      'z.txt',
      'a/deep',
      'a/x.txt',
      'b/y.txt',
      'a/deep/er',
      'a/deep/b.txt',
      'a/deep/er/leaf.txt',
    ]);
  });

  it.each([1, 2, 3, 7, 31, 32, 33, 100, 1_000])('is the same in pages of %i', async (pageSize) => {
    const provider = memoryOf(WIDE);
    const expected = await levelsOf(provider);
    const { uris, truncatedBy } = await walk(provider, { pageSize });
    expect(uris).toEqual(expected);
    expect(truncatedBy).toBeUndefined();
  });

  it('is the same in pages of any size, for any tree', async () => {
    const segment = fc.constantFrom('a', 'b', 'c');
    const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((names) => `${names.join('/')}/leaf`);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(path, { maxLength: 30 }),
        fc.integer({ min: 1, max: 20 }),
        async (paths, pageSize) => {
          const provider = memoryOf(paths);
          expect((await walk(provider, { pageSize })).uris).toEqual(await levelsOf(provider));
        },
      ),
    );
  });

  it('fills its pages, and has no page more than it needs', async () => {
    const provider = memoryOf(WIDE);
    const { uris, pages } = await walk(provider, { pageSize: 10 });
    expect(pages).toBe(Math.ceil(uris.length / 10));
  });

  it('of nothing but a root is that root', async () => {
    expect(await walk(memoryOf([]))).toMatchObject({ uris: ['memory:///'], pages: 1, truncatedBy: undefined });
  });

  it('ends with its caller [RES-7]', async () => {
    const reason = new Error('The caller is gone');
    const ctx = createContext({ signal: AbortSignal.abort(reason) });
    await expect(walkPage(memoryOf(SMALL), undefined, LIMITS, ctx)).rejects.toBe(reason);
  });
});

describe('the limits of a walk', () => {
  it.each([1, 2, 5, 9])('maxListed of %i ends it over all pages, and is said to have', async (maxListed) => {
    for (const pageSize of [1, 3, 100]) {
      const { uris, truncatedBy } = await walk(memoryOf(SMALL), { maxListed, pageSize });
      expect(uris).toHaveLength(maxListed);
      expect(truncatedBy).toBe('maxResources');
    }
  });

  it('maxListed of all there is ends nothing, and is not said to have', async () => {
    for (const pageSize of [1, 3, 10, 100]) {
      const { uris, truncatedBy } = await walk(memoryOf(SMALL), { maxListed: 10, pageSize });
      expect(uris).toHaveLength(10);
      expect(truncatedBy).toBeUndefined();
    }
  });

  it('maxListed of all there is ends nothing where only empty containers are left to look into', async () => {
    const provider = selfSimilar((uri) => (uri === 'x:root' ? ['x:a', 'x:b'] : []));
    for (const pageSize of [1, 3, 100]) {
      expect(await walk(provider, { maxListed: 3, pageSize })).toMatchObject({
        uris: ['x:root', 'x:a', 'x:b'],
        truncatedBy: undefined,
      });
    }
  });

  it.each([
    [1, 1],
    [2, 4],
    [3, 7],
    [4, 9],
  ])('maxDepth of %i shows as many levels, %i entries, and is said to have ended it', async (maxDepth, count) => {
    for (const pageSize of [1, 2, 100]) {
      const { uris, truncatedBy } = await walk(memoryOf(SMALL), { maxDepth, pageSize });
      expect(uris).toHaveLength(count);
      expect(truncatedBy).toBe('maxDepth');
    }
  });

  it('maxDepth of all levels there are ends nothing, and is not said to have', async () => {
    const { uris, truncatedBy } = await walk(memoryOf(SMALL), { maxDepth: 5 });
    expect(uris).toHaveLength(10);
    expect(truncatedBy).toBeUndefined();
  });
});

describe('a walk of what changes between its pages', () => {
  it('shows what was there all the time exactly once, whatever comes and goes', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const path = fc
      .array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 })
      .map((segments) => `${segments.join('/')}/leaf`);
    const change = fc.record({ path, create: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(path, { minLength: 1, maxLength: 25 }),
        fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 6 }),
        async (paths, changes, pageSize) => {
          const provider = memoryOf(paths);
          const present = new Set(paths);
          const existing = (): Set<string> =>
            new Set(
              [...present].flatMap((leaf) => leaf.split('/').map((_, depth, all) => all.slice(0, depth + 1).join('/'))),
            );
          let staying = existing();
          const { uris } = await walk(provider, { pageSize }, (page) => {
            for (const { path: leaf, create } of changes[page - 1] ?? []) {
              if (create) provider.set(leaf, { text: 'new' });
              else provider.delete(leaf);
              if (create) present.add(leaf);
              else present.delete(leaf);
              const now = existing();
              staying = new Set([...staying].filter((each) => now.has(each)));
            }
          });
          const shown = short(uris);
          for (const each of staying)
            expect(
              shown.filter((one) => one === each),
              each,
            ).toHaveLength(1);
        },
      ),
    );
  });

  it('goes on behind the entry at which it stopped, although that is gone', async () => {
    const provider = memoryOf(['a', 'b', 'c', 'd']);
    const { uris } = await walk(provider, { pageSize: 3 }, () => void provider.delete('b'));
    expect(short(uris)).toEqual(['', 'a', 'b', 'c', 'd']);
  });

  it('leaves out a container that has vanished since it was listed', async () => {
    const provider = memoryOf(['a/one', 'b/two', 'c/three']);
    const { uris, truncatedBy } = await walk(provider, { pageSize: 4 }, () => void provider.delete('b/two'));
    expect(short(uris)).toEqual(['', 'a', 'b', 'c', 'a/one', 'c/three']);
    expect(truncatedBy).toBeUndefined();
  });
});

describe('a walk that meets an error', () => {
  const failing = (uri: string | undefined, code: ResourceErrorCode): ResourceProvider => {
    const provider = memoryOf(['a/one', 'b/two', 'c/three']);
    return wrapProvider(provider, {
      async list(asked, page, ctx) {
        if (asked === uri) throw new ResourceError(code, 'As told', { uri: asked });
        return provider.list(asked, page, ctx);
      },
    });
  };

  it.each<ResourceErrorCode>(['denied', 'not-found', 'not-listable'])(
    '%s: goes on without that container',
    async (code) => {
      const { uris } = await walk(failing('memory:///b', code));
      expect(short(uris)).toEqual(['', 'a', 'b', 'c', 'a/one', 'c/three']);
    },
  );

  it.each<ResourceErrorCode>(['unavailable', 'timeout', 'limited', 'internal', 'invalid'])(
    '%s: ends with it, rather than with a list that looks whole',
    async (code) => {
      await expect(walk(failing('memory:///b', code))).rejects.toMatchObject({ code });
    },
  );

  it('at the roots ends with it, whatever it is', async () => {
    await expect(walk(failing(undefined, 'denied'))).rejects.toMatchObject({ code: 'denied' });
  });
});

/** A provider whose every container has these children, containers all. */
function selfSimilar(childrenOf: (uri: string) => Iterable<string>): ResourceProvider & { lists: number } {
  const provider = {
    ...memoryOf([]),
    lists: 0,
    async list(uri: string | undefined, page: { limit: number; cursor?: string | undefined }) {
      provider.lists++;
      const all = uri === undefined ? ['x:root'] : childrenOf(uri);
      const shown: string[] = [];
      let skipping = page.cursor !== undefined;
      for (const child of all) {
        if (skipping) skipping = child !== page.cursor;
        else if (shown.length === page.limit) {
          const resources = shown.map((each) => ({
            uri: each,
            name: each,
            capabilities: { list: true, subscribe: false },
          }));
          return { resources, nextCursor: shown.at(-1) };
        } else shown.push(child);
      }
      return {
        resources: shown.map((each) => ({ uri: each, name: each, capabilities: { list: true, subscribe: false } })),
      };
    },
  };
  return provider;
}

describe('a walk of what has no end', () => {
  it('is ended by maxDepth where a container has itself for a child', async () => {
    const { uris, truncatedBy } = await walk(
      selfSimilar((uri) => [uri]),
      { maxDepth: 12 },
    );
    expect(uris).toEqual(new Array(12).fill('x:root'));
    expect(truncatedBy).toBe('maxDepth');
  });

  it('is ended by maxListed where containers have each other for children', async () => {
    for (const pageSize of [7, 100]) {
      const { uris, truncatedBy } = await walk(
        selfSimilar(() => ['x:a', 'x:b', 'x:root']),
        { maxListed: 500, pageSize },
      );
      expect(uris).toHaveLength(500);
      expect(truncatedBy).toBe('maxResources');
    }
  });

  it('is ended by maxListed where a container has no end of children', async () => {
    function* numbers(): Iterable<string> {
      for (let index = 0; ; index++) yield `x:${index}`;
    }
    const { uris, truncatedBy } = await walk(selfSimilar(numbers), { maxListed: 300, pageSize: 50 });
    expect(uris).toHaveLength(300);
    expect(truncatedBy).toBe('maxResources');
  });

  it('has an end of work in each page where a list has no end of empty pages', async () => {
    let lists = 0;
    const provider: ResourceProvider = {
      ...memoryOf([]),
      list: async () => ({ resources: [], nextCursor: String(++lists) }),
    };
    const page = await walkPage(provider, undefined, LIMITS, createContext());
    expect(page.resources).toEqual([]);
    expect(lists).toBe(MAX_LISTS);
    await walkPage(provider, page.position, LIMITS, createContext());
    expect(lists).toBe(2 * MAX_LISTS);
  });

  it('has an end of work in each page where a level is nearly empty, and loses nothing by that', async () => {
    const folders = Array.from({ length: MAX_LISTS + 500 }, (_, index) => `x:${String(index).padStart(5, '0')}`);
    const provider = selfSimilar((uri) => (uri === 'x:root' ? folders : uri === 'x:01499' ? ['x:last'] : []));
    const { uris, truncatedBy } = await walk(provider, { pageSize: 10_000 });
    expect(uris).toEqual(['x:root', ...folders, 'x:last']);
    expect(truncatedBy).toBeUndefined();
  });
});

describe('a walk beside lists that are whole', () => {
  /** Lists all of its entries at once, some of which lie below others; refuses to be gone down into. */
  function wholeOf(count: number, pageSize = Number.POSITIVE_INFINITY): ResourceProvider & { shown: number } {
    const uris = Array.from({ length: count }, (_, index) => `x:${String(index).padStart(4, '0')}`);
    const provider = {
      ...memoryOf([]),
      shown: 0,
      async list(uri: string | undefined, { cursor, limit, containersOnly }: Page): Promise<ResourcePage> {
        if (uri !== undefined) throw new Error(`Nobody needs to go down to ${uri}`);
        if (containersOnly) return { resources: [], whole: true };
        const rest = uris.filter((each) => cursor === undefined || each > cursor);
        const page = rest.slice(0, Math.min(limit, pageSize));
        provider.shown += page.length;
        const resources = page.map((each) => ({
          uri: each,
          name: each,
          capabilities: { list: true, subscribe: false },
        }));
        return { resources, whole: true, nextCursor: rest.length > page.length ? page.at(-1) : undefined };
      },
    };
    return provider;
  }

  const treeOf = (providers: readonly ResourceProvider[]): ResourceProvider =>
    mountTree(providers.map((provider, index) => ({ name: `m${index}`, provider })));
  const ownOf = (index: number, uris: readonly string[]): string[] =>
    uris.filter((uri) => uri.startsWith(`m${index}+`));

  it('shows each entry of either kind exactly once, in pages of any size', async () => {
    const kind = fc.oneof(
      fc.record({ whole: fc.constant(true as const), count: fc.nat(12), most: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ whole: fc.constant(false as const), paths: fc.subarray(SMALL) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(kind, { maxLength: 5 }), fc.integer({ min: 1, max: 20 }), async (kinds, pageSize) => {
        const providers = kinds.map((each) => (each.whole ? wholeOf(each.count, each.most) : memoryOf(each.paths)));
        const { uris, truncatedBy } = await walk(treeOf(providers), { pageSize });
        expect(truncatedBy).toBeUndefined();
        expect(new Set(uris).size).toBe(uris.length);
        for (const [index, each] of kinds.entries()) {
          const provider = providers[index] ?? memoryOf([]);
          const expected = each.whole ? each.count : (await levelsOf(provider)).length;
          expect(ownOf(index, uris)).toHaveLength(expected);
        }
      }),
    );
  });

  it('reads them once, however deep the others go', async () => {
    const whole = wholeOf(300);
    for (const pageSize of [7, 100]) {
      whole.shown = 0;
      const { uris } = await walk(treeOf([memoryOf(WIDE), whole, memoryOf(SMALL)]), { pageSize });
      expect(ownOf(1, uris)).toHaveLength(300);
      expect(whole.shown).toBeLessThan(300 + 2 * pageSize);
    }
  });

  it.each([
    ['before', 0],
    ['behind', 1],
  ])('has no limit for them, which stand %s what has one', async (_where, place) => {
    // The roots are all that the limit lets through: nothing is left out but what lies below.
    const providers: ResourceProvider[] = [memoryOf([]), memoryOf([])];
    providers.splice(place * 2, 0, wholeOf(250));
    for (const pageSize of [1, 2, 10, 99, 250, 1_000]) {
      const { uris, truncatedBy } = await walk(treeOf(providers), { pageSize, maxListed: 2 });
      expect(uris).toHaveLength(252);
      expect(truncatedBy).toBeUndefined();
    }
  });

  it('says what a limit leaves out of the others', async () => {
    const tree = treeOf([wholeOf(50), memoryOf(SMALL)]);
    for (const pageSize of [1, 7, 100]) {
      const { uris, truncatedBy } = await walk(tree, { pageSize, maxListed: 3 });
      expect([ownOf(0, uris).length, ownOf(1, uris).length]).toEqual([50, 3]);
      expect(truncatedBy).toBe('maxResources');
    }
  });
});

describe('a position', () => {
  it('is JSON whose size does not grow with the tree, only with its depth', async () => {
    const children = Array.from({ length: 200 }, (_, index) => `x:${index}`);
    const maxDepth = 4;
    const { positions } = await walk(
      selfSimilar(() => children),
      { maxListed: 45_000, maxDepth, pageSize: 997 },
    );
    expect(positions.length).toBeGreaterThan(40);
    for (const position of positions) {
      expect(JSON.parse(position)).toMatchObject({ frames: expect.any(Array), level: expect.any(Number) });
      // At most 32 containers and one cursor of each level on the way, of some 20 characters each.
      expect(position.length).toBeLessThan(33 * maxDepth * 30);
    }
  });
});
