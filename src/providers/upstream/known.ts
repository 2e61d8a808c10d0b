/** What an upstream said of its resources in its lists: for servers that have no other way to say it. */
import { LRUCache } from 'lru-cache';
import type { Resource } from '../../protocol/resources.ts';

/** Resources whose metadata is kept of what was gone through for it. */
const MAX_KNOWN = 20_000;

/** Resources that are kept of lists that clients page through: what they ask about next, and not the list. */
const MAX_PASSING = 500;

/** How long a list is believed of a server that tells when it changes, and of one that does not, in milliseconds. */
const TOLD_MS = 10 * 60_000;
const UNTOLD_MS = 30_000;

export interface Known {
  get(uri: string): Resource | undefined;
  /** Keeps the latest of what a list says. */
  learn(resources: readonly Resource[], tells: boolean): void;
  /** Keeps what was gone through to know it. */
  keep(resources: readonly Resource[], tells: boolean): void;
  /** Whether the whole list has been gone through, so that what is not known is not in it. */
  readonly whole: boolean;
  learnedAll(tells: boolean): void;
  clear(): void;
}

export function createKnown(now: () => number = Date.now): Known {
  const known = new LRUCache<string, Resource>({ max: MAX_KNOWN });
  const passing = new LRUCache<string, Resource>({ max: MAX_PASSING });
  let wholeUntil = 0;
  const lasts = (tells: boolean): number => (tells ? TOLD_MS : UNTOLD_MS);
  return {
    get: (uri) => passing.get(uri) ?? known.get(uri),
    learn(resources, tells) {
      for (const resource of resources) passing.set(resource.uri, resource, { ttl: lasts(tells) });
    },
    keep(resources, tells) {
      for (const resource of resources) known.set(resource.uri, resource, { ttl: lasts(tells) });
    },
    get whole() {
      return now() < wholeUntil;
    },
    learnedAll(tells) {
      wholeUntil = now() + lasts(tells);
    },
    clear() {
      known.clear();
      passing.clear();
      wholeUntil = 0;
    },
  };
}
