/** Stores answers: an interface, and an in-memory store that is bounded in bytes. */
import { weightOf } from '../core/weight.ts';

/** The question that an answer belongs to. */
export interface CacheKey {
  /** Names the server: `cache.server`, or else its URL or a unique name. */
  readonly server: string;
  /** The user; empty for answers that everybody may share (`cacheScope: public`). */
  readonly partition: string;
  /** The method, such as `resources/read`. */
  readonly method: string;
  /** The URI; empty for a list without one. */
  readonly uri: string;
  /** A cursor, or a window. */
  readonly part: string;
}

export interface CacheEntry {
  /** The result, as JSON. It is shared and never changed. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970 up to which it is fresh. */
  readonly until: number;
  /** Identifies the version of the resource that the answer holds, to compare with the server's current one. */
  readonly validator?: string | undefined;
}

/** Stores answers. Every method may be asynchronous. If a method fails, the answer counts as not stored. */
export interface CacheStore {
  get(key: CacheKey): CacheEntry | undefined | Promise<CacheEntry | undefined>;
  set(key: CacheKey, entry: CacheEntry): void | Promise<void>;
  /** Removes matching answers. */
  forget(matches: (key: CacheKey) => boolean): void | Promise<void>;
  close?(): Promise<void>;
}

export interface MemoryStoreOptions {
  /** Approximate bytes of all answers. The least recently used are removed first. Default 64 MiB. */
  readonly maxBytes?: number | undefined;
}

export const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024;

export interface MemoryStore extends CacheStore {
  /** Approximate bytes of all stored answers. */
  readonly bytes: number;
  /** The number of stored answers. */
  readonly size: number;
}

/** Makes a store that lasts as long as the program. Clients may share it. */
export function memoryStore({ maxBytes = DEFAULT_CACHE_BYTES }: MemoryStoreOptions = {}): MemoryStore {
  // The least recently used come first: a map keeps the order of insertion.
  const kept = new Map<string, { readonly key: CacheKey; readonly entry: CacheEntry; readonly weight: number }>();
  let bytes = 0;
  const remove = (name: string): void => {
    bytes -= kept.get(name)?.weight ?? 0;
    kept.delete(name);
  };
  return {
    get(key) {
      const name = keyText(key);
      const found = kept.get(name);
      if (found === undefined) return undefined;
      kept.delete(name);
      kept.set(name, found);
      return found.entry;
    },
    set(key, entry) {
      const name = keyText(key);
      remove(name);
      const weight = 2 * name.length + weightOf(entry.value, maxBytes);
      if (weight > maxBytes) return;
      kept.set(name, { key, entry, weight });
      bytes += weight;
      for (const oldest of kept.keys()) {
        if (bytes <= maxBytes) break;
        remove(oldest);
      }
    },
    forget(matches) {
      for (const [name, { key }] of kept) if (matches(key)) remove(name);
    },
    get bytes() {
      return bytes;
    },
    get size() {
      return kept.size;
    },
  };
}

/** Returns a unique text for a key. */
export const keyText = ({ server, partition, method, uri, part }: CacheKey): string =>
  JSON.stringify([server, partition, method, uri, part]);
