/**
 * Answers that are kept as long as the server says (`ttlMs`, `cacheScope`), forgotten when it tells of a change, and asked
 * for once by all who want the same at the same time.
 */

import { freshnessIn, keptUntil } from '../connection/results.ts';
import { abortable } from '../core/waiting/abortable.ts';
import type { CacheEntry, CacheKey, CacheStore } from './cache-store.ts';
import type { Data } from './link.ts';
import { ancestorsOf, identityOf, insideOf } from './shapes.ts';

/** The question that an answer is kept for, as this client asks it. */
export interface Question {
  readonly method: string;
  /** Empty for the list of no resource in particular. */
  readonly uri: string;
  readonly part: string;
}

export interface CacheOptions {
  /** Names the server in a store that several clients share. */
  readonly server: string;
  /** Names whose answers they are: only clients with the same one share what is `private`. */
  readonly partition: string;
  readonly store: CacheStore | undefined;
  /** How long an answer that says nothing of it is fresh, in milliseconds. */
  readonly defaultTtlMs: number;
  readonly now?: (() => number) | undefined;
}

export interface Kept {
  readonly value: Data;
  readonly fresh: boolean;
  readonly validator: string | undefined;
}

export interface Cache {
  get(question: Question): Promise<Kept | undefined>;
  /** @param since of `mark()` when it was asked for: what was told to have changed meanwhile is not kept */
  put(question: Question, value: Data, since: number, validator?: string): Promise<void>;
  /** Now, as far as changes go. */
  mark(): number;
  /** Does the work once for all who want it at the same time; it is ended when none of them does any more. */
  once<T>(name: string, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** A resource has changed: it, what shows it, and what is below it is forgotten. */
  changed(uri: string): void;
  /** Forgets lists and metadata: the list of resources has changed. */
  listChanged(): void;
  clear(): Promise<void>;
}

interface Running {
  readonly result: Promise<unknown>;
  readonly abort: AbortController;
  waiting: number;
}

const READ = 'resources/read';

export function createCache(options: CacheOptions): Cache {
  const { server, partition, store, defaultTtlMs, now = Date.now } = options;
  const running = new Map<string, Running>();
  let mark = 0;
  let allChangedAt = 0;
  let listsChangedAt = 0;
  // Of changes, the latest only: older than all work that is under way they say nothing.
  const changes = new Map<string, number>();

  const keyOf = ({ method, uri, part }: Question, shared: boolean): CacheKey => ({
    server,
    partition: shared ? '' : partition,
    method,
    uri: uri === '' ? '' : identityOf(uri),
    part,
  });

  const mine = (key: CacheKey): boolean =>
    key.server === server && (key.partition === partition || key.partition === '');

  const forget = async (matches: (key: CacheKey) => boolean): Promise<void> => {
    try {
      await store?.forget((key) => mine(key) && matches(key));
    } catch {
      // A store that fails may keep the entry: it stays fresh until its time, and no longer.
    }
  };

  /** Finds the kept answer, and does not wait where the store gives it at once. */
  async function lookUp(question: Question): Promise<CacheEntry | undefined> {
    try {
      for (const shared of [false, true]) {
        const found = store?.get(keyOf(question, shared));
        const entry = found instanceof Promise ? await found : found;
        if (entry !== undefined) return entry;
      }
    } catch {
      // It is asked for again.
    }
    return undefined;
  }

  /** Whether what is the answer to this has changed since. */
  function outdated({ method, uri }: Question, since: number): boolean {
    if (since < allChangedAt || (method !== READ && since < listsChangedAt)) return true;
    const around = [uri, withoutFragment(uri), ...ancestorsOf(uri)];
    return around.some((each) => since < (changes.get(identityOf(each)) ?? 0));
  }

  function trim(): void {
    if (changes.size <= MAX_CHANGES) return;
    changes.clear();
    allChangedAt = mark;
  }

  /** Nobody joins work that began before a change. */
  const disown = (): void => running.clear();

  return {
    async get(question) {
      if (store === undefined) return undefined;
      const entry = await lookUp(question);
      if (entry === undefined) return undefined;
      return { value: entry.value, fresh: entry.until > now(), validator: entry.validator };
    },
    async put(question, value, since, validator) {
      if (store === undefined || outdated(question, since)) return;
      const said = freshnessIn(value) ?? { ttlMs: defaultTtlMs, cacheScope: 'private' as const };
      // An answer that is stale at once is kept only for its validator.
      if (said.ttlMs <= 0 && validator === undefined) return;
      const until = keptUntil(said, now());
      const entry: CacheEntry = { value, until, ...(validator !== undefined && { validator }) };
      try {
        await store.set(keyOf(question, said.cacheScope === 'public'), entry);
      } catch {
        // It is asked for again.
      }
    },
    mark: () => ++mark,
    async once(name, signal, work) {
      signal?.throwIfAborted();
      let shared = running.get(name);
      if (shared === undefined) {
        const abort = new AbortController();
        const result = work(abort.signal);
        const begun: Running = { result, abort, waiting: 0 };
        shared = begun;
        running.set(name, begun);
        const end = (): void => {
          if (running.get(name) === begun) running.delete(name);
        };
        result.then(end, end);
      }
      const joined = shared;
      joined.waiting++;
      try {
        const result = joined.result as ReturnType<typeof work>;
        return await (signal === undefined ? result : abortable(result, signal));
      } finally {
        joined.waiting--;
        if (joined.waiting === 0) {
          if (running.get(name) === joined) running.delete(name);
          joined.abort.abort(signal?.reason);
        }
      }
    },
    changed(uri) {
      const at = ++mark;
      // A container shows what is in it; a part of a text (`#L3-L5`) changes with the text.
      const shown = new Set([uri, ...ancestorsOf(uri)].map(identityOf));
      for (const each of shown) changes.set(each, at);
      trim();
      disown();
      const below = insideOf(identityOf(uri));
      void forget((key) => shown.has(withoutFragment(key.uri)) || key.uri.startsWith(below));
    },
    listChanged() {
      listsChangedAt = ++mark;
      disown();
      void forget((key) => key.method !== READ);
    },
    async clear() {
      allChangedAt = ++mark;
      disown();
      await forget(() => true);
    },
  };
}

const withoutFragment = (uri: string): string => {
  const at = uri.indexOf('#');
  return at === -1 ? uri : uri.slice(0, at);
};

/** Changes that are remembered for work that is under way; when there are more, all of it counts as changed. */
const MAX_CHANGES = 10_000;
