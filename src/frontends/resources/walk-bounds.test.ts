/** A walk of an endless tree ends by its limits, and shows complete lists just once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS, levelsOf, memoryOf, SMALL, selfSimilar, WIDE, walk } from '../../../test/lists/walking.ts';
import { createContext } from '../../core/context.ts';
import { mountTree } from '../../core/mounts.ts';
import type { Page, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { MAX_LISTS, walkPage } from './walk.ts';

describe('a walk of an endless tree', () => {
  it('is ended by maxDepth if a container contains itself', async () => {
    const { uris, truncatedBy } = await walk(
      selfSimilar((uri) => [uri]),
      { maxDepth: 12 },
    );
    expect(uris).toEqual(new Array(12).fill('x:root'));
    expect(truncatedBy).toBe('maxDepth');
  });

  it('is ended by maxListed if containers contain each other', async () => {
    for (const pageSize of [7, 100]) {
      const { uris, truncatedBy } = await walk(
        selfSimilar(() => ['x:a', 'x:b', 'x:root']),
        { maxListed: 500, pageSize },
      );
      expect(uris).toHaveLength(500);
      expect(truncatedBy).toBe('maxResources');
    }
  });

  it('is ended by maxListed if a container has endless children', async () => {
    function* numbers(): Iterable<string> {
      for (let index = 0; ; index++) yield `x:${index}`;
    }
    const { uris, truncatedBy } = await walk(selfSimilar(numbers), { maxListed: 300, pageSize: 50 });
    expect(uris).toHaveLength(300);
    expect(truncatedBy).toBe('maxResources');
  });

  it('does limited work for each page if a list has endless empty pages', async () => {
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

  it('does limited work for each page if a level is nearly empty, and loses nothing by that', async () => {
    const folders = Array.from({ length: MAX_LISTS + 500 }, (_, index) => `x:${String(index).padStart(5, '0')}`);
    const provider = selfSimilar((uri) => (uri === 'x:root' ? folders : uri === 'x:01499' ? ['x:last'] : []));
    const { uris, truncatedBy } = await walk(provider, { pageSize: 10_000 });
    expect(uris).toEqual(['x:root', ...folders, 'x:last']);
    expect(truncatedBy).toBeUndefined();
  });
});

describe('a walk beside complete lists', () => {
  /** Lists all its entries at once, some of which lie below others. Its containers cannot be listed. */
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

  it('reads them once, however deep the other mounts are', async () => {
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
  ])('has no limit for them, if they come %s a mount with a limit', async (_where, place) => {
    // The limit allows only the roots, so only their children are left out.
    const providers: ResourceProvider[] = [memoryOf([]), memoryOf([])];
    providers.splice(place * 2, 0, wholeOf(250));
    for (const pageSize of [1, 2, 10, 99, 250, 1_000]) {
      const { uris, truncatedBy } = await walk(treeOf(providers), { pageSize, maxListed: 2 });
      expect(uris).toHaveLength(252);
      expect(truncatedBy).toBeUndefined();
    }
  });

  it('names what a limit leaves out of the others', async () => {
    const tree = treeOf([wholeOf(50), memoryOf(SMALL)]);
    for (const pageSize of [1, 7, 100]) {
      const { uris, truncatedBy } = await walk(tree, { pageSize, maxListed: 3 });
      expect([ownOf(0, uris).length, ownOf(1, uris).length]).toEqual([50, 3]);
      expect(truncatedBy).toBe('maxResources');
    }
  });
});
