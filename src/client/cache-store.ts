/** Keeps answers: an interface, and a store in memory that is bounded in bytes. */
import { weightOf } from '../core/weight.ts';

/** The question that an answer is kept for. */
export interface CacheKey {
  /** Whose server it is of: the address of the server, or what `cache.server` says. */
  readonly server: string;
  /** Whose answer it is: empty for everybody's (`cacheScope: public`). */
  readonly partition: string;
  /** Such as `resources/read`. */
  readonly method: string;
  /** Empty for a list of no resource in particular. */
  readonly uri: string;
  /** Which part of it: a cursor, or a window. */
  readonly part: string;
}

export interface CacheEntry {
  /** The result, as JSON. It is shared: nobody changes it. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970 up to which it is fresh. */
  readonly until: number;
  /** The state of the resource, by its last change: compared later, to see whether the resource has changed. */
  readonly validator?: string | undefined;
}

/** Keeps answers. All of it may be asynchronous; what fails is as if it had not been kept. */
export interface CacheStore {
  get(key: CacheKey): CacheEntry | undefined | Promise<CacheEntry | undefined>;
  set(key: CacheKey, entry: CacheEntry): void | Promise<void>;
  /** Forgets what matches. */
  forget(matches: (key: CacheKey) => boolean): void | Promise<void>;
  close?(): Promise<void>;
}

export interface MemoryStoreOptions {
  /** Bytes of all answers, about. The ones that were used longest ago make room. Default 64 MiB. */
  readonly maxBytes?: number | undefined;
}

export const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024;

export interface MemoryStore extends CacheStore {
  /** Bytes that are kept, about. */
  readonly bytes: number;
  /** Answers that are kept. */
  readonly size: number;
}

/** A store that lasts as long as the program. Several clients may share one. */
export function memoryStore({ maxBytes = DEFAULT_CACHE_BYTES }: MemoryStoreOptions = {}): MemoryStore {
  // In the order of their last use: a map keeps the order in which its keys were set.
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

/** One text for one key, and none for two. */
export const keyText = ({ server, partition, method, uri, part }: CacheKey): string =>
  JSON.stringify([server, partition, method, uri, part]);
