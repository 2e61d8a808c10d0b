/** Remembers how an upstream described its resources, and which reads gave several contents, to complete later descriptions. */

import type { Data } from '../../connection/data.ts';
import { createLru } from '../../core/lru.ts';
import type { ResourceCapabilities } from '../../protocol/resources.ts';

/** The most resources that are kept of a list that was read to find metadata, and the most that are known as containers. */
const MAX_KNOWN = 20_000;

/**
 * The most resources that are kept of the pages that clients read, and the most that are kept without a list: clients ask next
 * about the latest ones, not the whole list.
 */
const MAX_PASSING = 500;

/** How long a list of a server that notifies of changes is taken as current, in milliseconds. */
const NOTIFIED_MS = 10 * 60_000;
/** The same for a server that does not notify. */
const UNNOTIFIED_MS = 30_000;

/** A resource as the server describes it. */
export type Entry = Data & { readonly uri: string };

/**
 * The remembered descriptions. `tells` is whether the server notifies of changes. `asked` is the period in which a page or
 * description was requested: one from before a change is not kept.
 */
export interface KnownResources {
  /** Stands for the time until the next `clear`. */
  readonly period: symbol;
  get(uri: string): Entry | undefined;
  /** Whether a remembered list has the resource. */
  isListed(uri: string): boolean;
  /** Keeps the latest entries of a page that a client read. */
  learn(resources: readonly Entry[], tells: boolean, asked: symbol): void;
  /** Keeps the description of a resource that is not known to be in a list. */
  learnUnlisted(uri: string, resource: Entry, tells: boolean, asked: symbol): void;
  /** Keeps entries of a list that was read to find metadata. */
  keep(resources: readonly Entry[], tells: boolean, asked: symbol): void;
  /** Whether the whole list has been read, so that an unknown resource is not in it. */
  readonly whole: boolean;
  /** Notes that the whole list has been read. @param asked the period in which that began */
  learnedAll(tells: boolean, asked: symbol): void;
  /** Whether the latest read of the resource, by any client, gave contents of several URIs (2093-7). `clear` keeps that. */
  hasSeveral(uri: string): boolean;
  learnSeveral(uri: string, several: boolean): void;
  clear(): void;
}

/** Whether the server says that a resource has children (2093-5). */
export function declaresList(entry: Data | undefined): boolean {
  return (entry?.capabilities as Partial<ResourceCapabilities> | undefined)?.list === true;
}

export function createKnownResources(now: () => number = Date.now): KnownResources {
  const scanned = createLru<string, Entry>(MAX_KNOWN);
  const passing = createLru<string, Entry>(MAX_PASSING);
  const unlisted = createLru<string, Entry>(MAX_PASSING);
  const severals = createLru<string, true>(MAX_KNOWN);
  let wholeUntil = 0;
  let period = Symbol();
  const lifetime = (tells: boolean): number => (tells ? NOTIFIED_MS : UNNOTIFIED_MS);
  return {
    get period() {
      return period;
    },
    get: (uri) => unlisted.get(uri) ?? passing.get(uri) ?? scanned.get(uri),
    isListed: (uri) => passing.has(uri) || scanned.has(uri),
    learn(resources, tells, asked) {
      if (asked !== period) return;
      for (const resource of resources) passing.set(resource.uri, resource, { ttl: lifetime(tells) });
    },
    learnUnlisted(uri, resource, tells, asked) {
      if (asked !== period) return;
      unlisted.set(uri, resource, { ttl: lifetime(tells) });
    },
    keep(resources, tells, asked) {
      if (asked !== period) return;
      for (const resource of resources) scanned.set(resource.uri, resource, { ttl: lifetime(tells) });
    },
    get whole() {
      return now() < wholeUntil;
    },
    learnedAll(tells, asked) {
      if (asked === period) wholeUntil = now() + lifetime(tells);
    },
    hasSeveral: (uri) => severals.has(uri),
    learnSeveral(uri, several) {
      if (several) severals.set(uri, true);
      else severals.delete(uri);
    },
    clear() {
      period = Symbol();
      scanned.clear();
      passing.clear();
      unlisted.clear();
      wholeUntil = 0;
    },
  };
}
