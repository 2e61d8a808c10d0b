/** Remembers how an upstream described its resources, and what was seen of them: some servers say less, or say it elsewhere. */
import { LRUCache } from 'lru-cache';
import type { Data } from '../../connection/data.ts';

/** Resources whose metadata is kept of what was gone through for it, and those that are known to be containers. */
const MAX_KNOWN = 20_000;

/** Resources that are kept of lists that clients page through: what they ask about next, and not the list. */
const MAX_PASSING = 500;

/** How long a list is believed of a server that tells when it changes, and of one that does not, in milliseconds. */
const TOLD_MS = 10 * 60_000;
const UNTOLD_MS = 30_000;

/** A resource as the server describes it. */
export type Entry = Data & { readonly uri: string };

export interface Known {
  get(uri: string): Entry | undefined;
  /** Whether a list has it. */
  isListed(uri: string): boolean;
  /** Keeps the latest of what a list says. */
  learn(resources: readonly Entry[], tells: boolean): void;
  /** Keeps what the server says of a resource that is in no list for all that is known. */
  learnUnlisted(uri: string, resource: Entry, tells: boolean): void;
  /** Keeps what was gone through to know it. */
  keep(resources: readonly Entry[], tells: boolean): void;
  /** Whether the whole list has been gone through, so that what is not known is not in it. */
  readonly whole: boolean;
  learnedAll(tells: boolean): void;
  /** Whether the latest read of it, by whomever, gave contents of several URIs (2093-7). Not forgotten by `clear`. */
  hasSeveral(uri: string): boolean;
  learnSeveral(uri: string, several: boolean): void;
  clear(): void;
}

export function createKnown(now: () => number = Date.now): Known {
  const known = new LRUCache<string, Entry>({ max: MAX_KNOWN });
  const passing = new LRUCache<string, Entry>({ max: MAX_PASSING });
  const unlisted = new LRUCache<string, Entry>({ max: MAX_PASSING });
  const severals = new LRUCache<string, true>({ max: MAX_KNOWN });
  let wholeUntil = 0;
  const lasts = (tells: boolean): number => (tells ? TOLD_MS : UNTOLD_MS);
  return {
    get: (uri) => unlisted.get(uri) ?? passing.get(uri) ?? known.get(uri),
    isListed: (uri) => passing.has(uri) || known.has(uri),
    learn(resources, tells) {
      for (const resource of resources) passing.set(resource.uri, resource, { ttl: lasts(tells) });
    },
    learnUnlisted(uri, resource, tells) {
      unlisted.set(uri, resource, { ttl: lasts(tells) });
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
    hasSeveral: (uri) => severals.has(uri),
    learnSeveral(uri, several) {
      if (several) severals.set(uri, true);
      else severals.delete(uri);
    },
    clear() {
      known.clear();
      passing.clear();
      unlisted.clear();
      wholeUntil = 0;
    },
  };
}
