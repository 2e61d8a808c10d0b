/**
 * Caches answers of an upstream, as long and as widely as the server allows, until the server reports a change. An answer
 * that is no longer fresh stays if its contents have versions: the next read asks whether they are still current.
 */
import { LRUCache } from 'lru-cache';
import type { Data } from '../../connection/data.ts';
import { freshnessIn, keptUntil } from '../../connection/results.ts';
import { weightOf } from '../../core/weight.ts';
import { versionsIn } from '../../protocol/content-version.ts';

/** The most bytes of all cached answers of one upstream, approximately. */
const MAX_BYTES = 16 * 1024 * 1024;

interface Kept {
  readonly result: Data;
  readonly until: number;
}

export interface Cache {
  /** @param audience identifies the caller; an answer that is `public` is for every audience */
  get(method: string, key: string, audience: string): Data | undefined;
  /** Returns an answer whose contents have versions, however old. The caller must ask whether it is still current. */
  old(method: string, key: string, audience: string): Data | undefined;
  /** @param asked the value of `forgotten` when the request was sent: an answer from before a change is not cached */
  put(method: string, key: string, audience: string, result: Data, asked: number): void;
  /** How many times answers were removed because of a change. */
  readonly forgotten: number;
  /** Removes the answers of a method, or one of them, for every audience. */
  forget(method: string, key?: string): void;
  clear(): void;
}

export function createCache(now: () => number = Date.now): Cache {
  const kept = new LRUCache<string, Kept>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ result }) => Math.ceil(weightOf(result, MAX_BYTES)),
  });
  let forgotten = 0;
  const keyOf = (method: string, key: string, audience: string): string => JSON.stringify([method, key, audience]);

  return {
    get(method, key, audience) {
      for (const whose of [PUBLIC, audience]) {
        const at = keyOf(method, key, whose);
        const found = kept.get(at);
        if (found === undefined) continue;
        const left = found.until - now();
        // The answer is passed on with the rest of its freshness.
        if (left > 0) return { ...found.result, ttlMs: left };
        if (versionsIn(found.result) === undefined) kept.delete(at);
      }
      return undefined;
    },
    old(method, key, audience) {
      const found = [PUBLIC, audience].map((whose) => kept.get(keyOf(method, key, whose))?.result);
      return found.find((result) => result !== undefined && versionsIn(result) !== undefined);
    },
    put(method, key, audience, result, asked) {
      const hint = freshnessIn(result) ?? { ttlMs: 0, cacheScope: 'private' };
      if (asked !== forgotten || (hint.ttlMs <= 0 && versionsIn(result) === undefined)) return;
      const until = keptUntil(hint, now());
      kept.set(keyOf(method, key, hint.cacheScope === 'public' ? PUBLIC : audience), { result, until });
    },
    get forgotten() {
      return forgotten;
    },
    forget(method, key) {
      forgotten++;
      const begins = `${JSON.stringify(key === undefined ? [method] : [method, key]).slice(0, -1)},`;
      for (const each of [...kept.keys()]) if (each.startsWith(begins)) kept.delete(each);
    },
    clear() {
      forgotten++;
      kept.clear();
    },
  };
}

const PUBLIC = '';
