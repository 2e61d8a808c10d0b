/** Keeps the entries that were used last. */
import { LRUCache } from 'lru-cache';

/**
 * Returns an empty cache for a number of entries. With `max` the package takes the memory for all of them at once, which costs
 * milliseconds for each connection and each search; this one grows with what is in it.
 * @param ttl how long an entry is kept, in milliseconds; without it, until others need its place
 */
export const createLru = <K extends string, V extends string | boolean | object>(
  maxEntries: number,
  ttl = 0,
): LRUCache<K, V> => new LRUCache<K, V>({ maxSize: maxEntries, sizeCalculation: () => 1, ttl });
