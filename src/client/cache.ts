/**
 * Caches answers as long as the server allows (`ttlMs`, `cacheScope`), and forgets them when the server reports a change.
 * Callers who want the same answer at the same time share one request.
 */

import { freshnessIn, keptUntil } from '../connection/results.ts';
import { createSharedWork } from '../core/waiting/shared-work.ts';
import type { CacheEntry, CacheKey, CacheStore } from './cache-store.ts';
import type { Data } from './link.ts';
import { ancestorsOf, identityOf, insideOf } from './shapes.ts';

/** Names a cached answer by the request for it. */
export interface Question {
  readonly method: string;
  /** Empty for a list that belongs to no resource. */
  readonly uri: string;
  /** Tells apart requests with the same method and URI, such as pages or formats. */
  readonly part: string;
}

export interface CacheOptions {
  /** Names the server in a store that several clients share. */
  readonly server: string;
  /** Names the user: only clients with the same partition share answers that are `private`. */
  readonly partition: string;
  readonly store: CacheStore | undefined;
  /** Milliseconds for which an answer without `ttlMs` is fresh. */
  readonly defaultTtlMs: number;
  readonly now?: (() => number) | undefined;
}

/** A cached answer. */
export interface Kept {
  readonly value: Data;
  readonly fresh: boolean;
  readonly validator: string | undefined;
}

/** The cached answers of one server. */
export interface Cache {
  get(question: Question): Promise<Kept | undefined>;
  /**
   * Keeps an answer, unless the server reported a change of it after the request.
   * @param since the result of `mark()` from before the request
   */
  put(question: Question, value: Data, since: number, validator?: string): Promise<void>;
  /** Returns a number that tells `put` which changes are newer than a request. */
  mark(): number;
  /** Runs work once for all callers who want it at the same time. The work is aborted when all of them have given up. */
  once<T>(name: string, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Forgets a resource that has changed, its containers, and everything below it. */
  changed(uri: string): void;
  /** Forgets lists and metadata, because the list of resources has changed. */
  listChanged(): void;
  clear(): Promise<void>;
}

const READ = 'resources/read';

/** Makes a cache. Without a store it keeps nothing, but callers still share requests through `once`. */
export function createCache(options: CacheOptions): Cache {
  const { server, partition, store, defaultTtlMs, now = Date.now } = options;
  const running = createSharedWork<string>();
  let mark = 0;
  let allChangedAt = 0;
  let listsChangedAt = 0;
  // The mark of the latest change of each resource.
  const changes = new Map<string, number>();

  const keyOf = ({ method, uri, part }: Question, shared: boolean): CacheKey => ({
    server,
    partition: shared ? '' : partition,
    method,
    uri: uri === '' ? '' : identityOf(uri),
    part,
  });

  const isVisible = (key: CacheKey): boolean =>
    key.server === server && (key.partition === partition || key.partition === '');

  const forget = async (matches: (key: CacheKey) => boolean): Promise<void> => {
    try {
      await store?.forget((key) => isVisible(key) && matches(key));
    } catch {
      // The store failed, and may keep the entry. The entry is then fresh until its time is over.
    }
  };

  /** Finds a cached answer. It waits only for a store that gives a promise. */
  async function lookUp(question: Question): Promise<CacheEntry | undefined> {
    try {
      for (const shared of [false, true]) {
        const found = store?.get(keyOf(question, shared));
        const entry = found instanceof Promise ? await found : found;
        if (entry !== undefined) return entry;
      }
    } catch {
      // The store failed, so the server is asked again.
    }
    return undefined;
  }

  /** Tells whether a change since a mark concerns the answer to a question. */
  function outdated({ method, uri }: Question, since: number): boolean {
    if (since < allChangedAt || (method !== READ && since < listsChangedAt)) return true;
    const sources = [uri, withoutFragment(uri), ...ancestorsOf(uri)];
    return sources.some((source) => since < (changes.get(identityOf(source)) ?? 0));
  }

  /** Counts everything as changed once too many changes are remembered. */
  function trim(): void {
    if (changes.size <= MAX_CHANGES) return;
    changes.clear();
    allChangedAt = mark;
  }

  return {
    async get(question) {
      if (store === undefined) return undefined;
      const entry = await lookUp(question);
      if (entry === undefined) return undefined;
      return { value: entry.value, fresh: entry.until > now(), validator: entry.validator };
    },
    async put(question, value, since, validator) {
      if (store === undefined || outdated(question, since)) return;
      const freshness = freshnessIn(value) ?? { ttlMs: defaultTtlMs, cacheScope: 'private' as const };
      // An answer that is stale at once is kept only for its validator.
      if (freshness.ttlMs <= 0 && validator === undefined) return;
      const until = keptUntil(freshness, now());
      const entry: CacheEntry = { value, until, ...(validator !== undefined && { validator }) };
      try {
        await store.set(keyOf(question, freshness.cacheScope === 'public'), entry);
      } catch {
        // The store failed, so the server will be asked again.
      }
    },
    mark: () => ++mark,
    once: running.run,
    changed(uri) {
      const at = ++mark;
      // Answers for its containers, which show it, and for parts of its text (`#L3-L5`) are outdated, too.
      const shown = new Set([uri, ...ancestorsOf(uri)].map(identityOf));
      for (const identity of shown) changes.set(identity, at);
      trim();
      // Later callers do not join work that began before a change.
      running.disown();
      const below = insideOf(identityOf(uri));
      void forget((key) => shown.has(withoutFragment(key.uri)) || key.uri.startsWith(below));
    },
    listChanged() {
      listsChangedAt = ++mark;
      running.disown();
      void forget((key) => key.method !== READ);
    },
    async clear() {
      allChangedAt = ++mark;
      running.disown();
      await forget(() => true);
    },
  };
}

const withoutFragment = (uri: string): string => {
  const at = uri.indexOf('#');
  return at === -1 ? uri : uri.slice(0, at);
};

/** The most changes that are remembered for running requests. Beyond that, all their answers count as changed. */
const MAX_CHANGES = 10_000;
