/**
 * Keeps pages of directories that are listed again and again. The entries of a kept page are looked at again after a second,
 * or as soon as a watch reports a change. So a change shows after a second at the latest, even without a watch. The names in
 * the directory are checked at each request. (`docs/decisions/0007-sorted-snapshots.md`)
 */
import { LRUCache } from 'lru-cache';
import type { ResourcePage } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { SortedNames } from './sorted-names.ts';

/** Milliseconds for which a page is given again without a new look at its entries. */
export const LOOK_AGAIN_MS = 1_000;

/** The most entries that are kept, over all pages of a mount: each takes about 2 KiB, with its JSON. */
const MAX_ENTRIES = 5_000;

/** The most pages that are remembered as requested once. A page is kept when it is requested for the second time. */
const MAX_REQUESTED = 1_000;

/** The most directories whose latest change is remembered. */
const MAX_CHANGED = 1_000;

/** An entry's resource, and the facts that it was made from: if these are the same, the resource is used again. */
export interface Described {
  readonly resource: Resource;
  readonly isDirectory: boolean;
  readonly size: bigint;
  readonly mtimeMs: bigint;
}

/** One look at the entries of a page, whose result may be given again for a while. */
export interface Looking {
  /** The entries of the previous look, by name. */
  readonly before: ReadonlyMap<string, Described>;
  /** The entries of this look, by name. */
  readonly entries: Map<string, Described>;
  /** When the look began, by `performance.now`. */
  readonly since: number;
  /** Whether `entries` has every entry, and none of them had just changed. Only then the page may be given again. */
  settled: boolean;
}

export interface KeptPage {
  readonly page: ResourcePage;
  /** The names of the directory that the page was made from. */
  readonly names: SortedNames;
  readonly looking: Looking;
}

/** Identifies a page. */
export interface PageKey {
  /** The names from the root to the directory, joined by slashes. */
  readonly directory: string;
  /** The cursor and the limit. */
  readonly place: string;
}

export interface KeptPages {
  /** Returns the kept page if its entries need not be looked at again yet. */
  fresh(key: PageKey, names: SortedNames): ResourcePage | undefined;
  /** Begins a look at the entries of a page; undefined if the page is requested for the first time. */
  look(key: PageKey): Looking | undefined;
  set(key: PageKey, page: KeptPage): void;
  /** Notes that something in a directory has changed, or may have. */
  changed(directory: string): void;
  clear(): void;
}

const NONE: ReadonlyMap<string, Described> = new Map();

export function createKeptPages(now: () => number = performance.now.bind(performance)): KeptPages {
  const pages = new LRUCache<string, KeptPage>({
    maxSize: MAX_ENTRIES,
    sizeCalculation: ({ looking }) => Math.max(1, looking.entries.size),
  });
  const requested = new LRUCache<string, true>({ max: MAX_REQUESTED });
  const changes = new LRUCache<string, number>({ max: MAX_CHANGED });
  const textOf = ({ directory, place }: PageKey): string => `${directory}\n${place}`;

  return {
    fresh(key, names) {
      const kept = pages.get(textOf(key));
      if (kept === undefined || kept.names !== names || !kept.looking.settled) return undefined;
      const { since } = kept.looking;
      const changedAt = changes.get(key.directory) ?? Number.NEGATIVE_INFINITY;
      return changedAt >= since || now() - since >= LOOK_AGAIN_MS ? undefined : kept.page;
    },
    look(key) {
      const text = textOf(key);
      // A client that pages through a large directory needs each page only once, so a first request keeps nothing.
      const again = requested.has(text);
      requested.set(text, true);
      if (!again) return undefined;
      const before = pages.get(text)?.looking.entries ?? NONE;
      return { before, entries: new Map(), since: now(), settled: true };
    },
    set: (key, page) => void pages.set(textOf(key), page),
    changed: (directory) => void changes.set(directory, now()),
    clear() {
      pages.clear();
      requested.clear();
      changes.clear();
    },
  };
}
