/** A cache that keeps the entries that were used last. */
import { LRUCache } from 'lru-cache';

/**
 * Returns an empty cache with a maximum number of entries. The package's own option `max` would allocate memory for all
 * entries at once, which takes milliseconds for each connection and each search; this cache grows with its content.
 * @param ttl how long an entry is kept, in milliseconds; without it, an entry stays until others need its place
 */
export const createLru = <K extends string, V extends string | boolean | object>(
  maxEntries: number,
  ttl = 0,
): LRUCache<K, V> => new LRUCache<K, V>({ maxSize: maxEntries, sizeCalculation: () => 1, ttl });
