/** Walks all pages of a tree, for tests of the walk. */
import { expect } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { type WalkLimits, walkPage } from '../../src/frontends/resources/walk.ts';
import { type MemoryProvider, memoryProvider } from '../../src/providers/memory/index.ts';
import { listAll } from '../../src/testing/observe.ts';

export const LIMITS: WalkLimits = { pageSize: 100, maxListed: 100_000, maxDepth: 32 };

export const memoryOf = (paths: Iterable<string>): MemoryProvider =>
  memoryProvider({ resources: Object.fromEntries([...paths].map((path) => [path, { text: path }])) });

export interface Walked {
  readonly uris: string[];
  readonly pages: number;
  readonly truncatedBy: string | undefined;
  readonly positions: readonly string[];
}

/** All pages of a walk. `between` runs before each page but the first. */
export async function walk(
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

export const short = (uris: readonly string[]): string[] => uris.map((uri) => uri.slice('memory:///'.length));

/** Every URI of a tree, level by level, found in another way than the walk. */
export async function levelsOf(provider: ResourceProvider): Promise<string[]> {
  const found: string[] = [];
  let level = await listAll(provider, undefined);
  while (level.length > 0) {
    found.push(...level.map(({ uri }) => uri));
    const containers = level.filter((resource) => resource.capabilities?.list);
    level = (await Promise.all(containers.map(({ uri }) => listAll(provider, uri)))).flat();
  }
  return found;
}

export const SMALL = ['z.txt', 'a/x.txt', 'a/deep/er/leaf.txt', 'a/deep/b.txt', 'b/y.txt'];

/** More folders on the first level than the walk lists together (`STEP`), and twice as many on the second. */
export const WIDE = Array.from({ length: 70 }, (_, index) => `d${String(index).padStart(2, '0')}`).flatMap((folder) => [
  `${folder}/leaf.txt`,
  `${folder}/one/leaf.txt`,
  `${folder}/two/three/leaf.txt`,
]);

/** A provider in which every container has these children, all of which are containers. Counts its lists. */
export function selfSimilar(childrenOf: (uri: string) => Iterable<string>): ResourceProvider & { lists: number } {
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
