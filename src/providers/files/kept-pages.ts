/**
 * Pages of directories that are listed again and again: their entries are looked at again after a second, and at once
 * when a watch tells of a change. A watch only makes it sooner: where none can be had, or an event is lost, a second is
 * what it takes. Which names there are is found out each time. (`docs/decisions/0007-sorted-snapshots.md`)
 */
import { LRUCache } from 'lru-cache';
import type { ResourcePage } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { SortedNames } from './sorted-names.ts';

/** How long what was said of entries is said again without a look, in milliseconds. */
export const LOOK_AGAIN_MS = 1_000;

/** The most entries that are kept, over all pages of a mount: each takes about 2 KiB, with its JSON. */
const MAX_ENTRIES = 5_000;

/** The most pages that were asked for, and are kept when they are asked for once more. */
const MAX_ASKED = 1_000;

/** Directories of which the latest change is known. */
const MAX_CHANGED = 1_000;

/** An entry, and all that its resource says: with the same again it is the same resource. */
export interface Described {
  readonly resource: Resource;
  readonly isDirectory: boolean;
  readonly size: bigint;
  readonly mtimeMs: bigint;
}

/** A look at entries that may be the last one for a while. */
export interface Looking {
  /** The entries of the previous look, by name. */
  readonly before: ReadonlyMap<string, Described>;
  /** The entries of this look, by name. */
  readonly entries: Map<string, Described>;
  /** When it began, as `performance.now` gives it. */
  readonly since: number;
  /** All there is to be known of each entry is in it, and has not just changed. */
  settled: boolean;
}

export interface KeptPage {
  readonly page: ResourcePage;
  /** Of which it is a page. */
  readonly names: SortedNames;
  readonly looking: Looking;
}

/** Which page: of a directory by its names from the root joined by slashes, and from where. */
export interface PageKey {
  readonly directory: string;
  /** The cursor and the limit. */
  readonly place: string;
}

export interface KeptPages {
  /** A page whose entries need not be looked at again yet. */
  fresh(key: PageKey, names: SortedNames): ResourcePage | undefined;
  /** Begins a look at the entries of a page that was asked for before; undefined of one that was not. */
  look(key: PageKey): Looking | undefined;
  set(key: PageKey, page: KeptPage): void;
  /** Something has changed in a directory, or may have. */
  changed(directory: string): void;
  clear(): void;
}

const NONE: ReadonlyMap<string, Described> = new Map();

export function createKeptPages(now: () => number = performance.now.bind(performance)): KeptPages {
  const pages = new LRUCache<string, KeptPage>({
    maxSize: MAX_ENTRIES,
    sizeCalculation: ({ looking }) => Math.max(1, looking.entries.size),
  });
  const asked = new LRUCache<string, true>({ max: MAX_ASKED });
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
      // Whoever goes through a large directory page by page wants each of them once.
      const again = asked.has(text);
      asked.set(text, true);
      if (!again) return undefined;
      const before = pages.get(text)?.looking.entries ?? NONE;
      return { before, entries: new Map(), since: now(), settled: true };
    },
    set: (key, page) => void pages.set(textOf(key), page),
    changed: (directory) => void changes.set(directory, now()),
    clear() {
      pages.clear();
      asked.clear();
      changes.clear();
    },
  };
}
