/**
 * Keeps answers to reads and lists as they are sent. Before an answer is given again, the provider confirms through all layers
 * that it would give this caller the same now (`ResourceProvider.again`, `listAgain`), so nothing here depends on the caller.
 */
import { LRUCache } from 'lru-cache';
import { isRepeatable } from '../../core/again.ts';
import { knownSize, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { jsonOf } from '../../core/kept.ts';
import type { Page, ReadOptions, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { markWritten } from '../../core/text/written.ts';
import type { CacheHint } from '../../protocol/resources.ts';

/** The default for the bytes of all kept answers together. */
export const DEFAULT_KEPT_BYTES = 16 * 1024 * 1024;

/** The most bytes of one kept answer. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** Memory that an entry of a kept page takes, in bytes, without what its provider keeps anyway. */
const LISTED_BYTES = 512;

/** Memory that a kept answer takes beside its text and its contents, in bytes. */
const ENTRY_BYTES = 2_048;

/**
 * How long an answer may be given again, in milliseconds. Then it is read anew, whatever its provider says: a program may
 * write to a file that is mapped into memory, and the file system notices that late.
 */
const MAX_AGE_MS = 1_000;

/** The bodies that a provider gave for a read. */
export interface GivenBodies {
  readonly uri: string;
  readonly bodies: readonly ResourceBody[];
  readonly want: ReadOptions;
}

/** The page that a provider gave for a list. */
export interface GivenPage {
  readonly uri: string | undefined;
  readonly page: ResourcePage;
  readonly want: Page;
}

/** One answer of a provider, with the request. */
export type Given = GivenBodies | GivenPage;

/** Whether the request carries no roots, confirmations or other answers to questions, on which a result could depend. */
export const isUnasked = ({ confirmed, refused, roots, round }: Context): boolean =>
  confirmed.size === 0 && refused === undefined && roots === undefined && round === undefined;

/** An answer, and what it was made of. */
interface Kept {
  readonly given: readonly Given[];
  /** The members of the result in JSON. */
  readonly members: string;
  /** A time of `performance.now()`, in milliseconds. */
  readonly until: number;
}

export interface KeptAnswers {
  /**
   * The members of a kept result in JSON, if the provider would give all that it was made of again now; else undefined.
   * @param key the request, with everything that the answer depends on except what providers give
   */
  again(key: string, ctx: Context): string | undefined;
  /**
   * Serialises a result that depends only on `given`, and keeps it if the provider can be asked about all of `given`. The cache
   * hints are not kept: such a result has the server's default hints, and only some eras send them.
   */
  keep<T extends object>(key: string, given: readonly Given[], result: T): T;
}

/** @param maxBytes of all kept answers together; 0 keeps nothing */
export function createKeptAnswers(provider: ResourceProvider, maxBytes: number): KeptAnswers | undefined {
  if ((provider.again === undefined && provider.listAgain === undefined) || maxBytes === 0) return undefined;
  const answers = new LRUCache<string, Kept>({ maxSize: maxBytes, maxEntrySize: Math.min(maxBytes, MAX_ANSWER_BYTES) });

  const isAgain = (given: Given, ctx: Context): boolean =>
    ('bodies' in given
      ? provider.again?.(given.bodies, given.uri, given.want, ctx)
      : provider.listAgain?.(given.page, given.uri, given.want, ctx)) === true;

  function areAgain(given: readonly Given[], ctx: Context): boolean {
    const [first, ...others] = given;
    if (first === undefined) return false;
    if (others.length === 0) return isAgain(first, ctx);
    const callbacks: (() => void)[] = [];
    const collecting: Context = { ...ctx, onceCertain: (callback) => void callbacks.push(callback) };
    if (!given.every((part) => isAgain(part, collecting))) return false;
    for (const callback of callbacks) callback();
    return true;
  }

  return {
    again(key, ctx) {
      const kept = answers.get(key);
      if (kept === undefined || performance.now() > kept.until) return undefined;
      return areAgain(kept.given, ctx) ? kept.members : undefined;
    },
    keep(key, given, result) {
      if (!given.every((part) => isRepeatable('bodies' in part ? part.bodies : part.page))) return result;
      const contents = given.reduce((sum, part) => sum + bytesOf(part), 0);
      if (contents > MAX_ANSWER_BYTES) return result;
      const { ttlMs: _ttl, cacheScope: _scope, ...lasting } = result as Partial<CacheHint>;
      const members = jsonOf(lasting).slice(1, -1);
      // A string takes two bytes per character if any of its characters is not Latin-1.
      const size = ENTRY_BYTES + contents + 2 * (members.length + key.length);
      const until = performance.now() + MAX_AGE_MS;
      answers.set(key, { given, members, until }, { size });
      return markWritten(result, members);
    },
  };
}

/** Returns the bytes of memory of the given bodies or page. A content of unknown size counts as too large. */
function bytesOf(given: Given): number {
  if ('page' in given) return LISTED_BYTES * given.page.resources.length;
  return given.bodies.reduce((sum, { content }) => sum + (knownSize(content) ?? MAX_ANSWER_BYTES + 1), 0);
}
