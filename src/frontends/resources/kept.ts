/**
 * Answers to reads and lists that are kept as they are sent. None is given again before the provider has said, through all
 * layers, that it would give this caller the same now (`ResourceProvider.again`, `listAgain`): so nothing here depends on
 * who asks.
 */
import { LRUCache } from 'lru-cache';
import { isRepeatable } from '../../core/again.ts';
import { knownSize, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { jsonOf } from '../../core/kept.ts';
import type { Page, ReadOptions, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { markWritten } from '../../core/text/written.ts';
import type { CacheHint } from '../../protocol/resources.ts';

/** Of all answers together, in bytes, unless told otherwise. */
export const DEFAULT_KEPT_BYTES = 16 * 1024 * 1024;

const MAX_ANSWER_BYTES = 256 * 1024;

/** Memory of an entry of a page beside what its provider keeps of it, in bytes. */
const LISTED_BYTES = 512;

/** Memory of one answer beside its text and its contents, in bytes. */
const ENTRY_BYTES = 2_048;

/**
 * How long an answer may be given again, in milliseconds: then it is read anew, whatever its provider says. A program may
 * write through memory without the file system noticing at once.
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

export type Given = GivenBodies | GivenPage;

/** Nobody was asked for anything that an answer could depend on. */
export const isUnasked = ({ confirmed, refused, roots, round }: Context): boolean =>
  confirmed.size === 0 && refused === undefined && roots === undefined && round === undefined;

/** An answer, and what it was made of. */
interface Kept {
  readonly given: readonly Given[];
  /** The members of the result in JSON. */
  readonly members: string;
  /** On the clock that nobody sets. */
  readonly until: number;
}

export interface KeptAnswers {
  /**
   * The members of a result in JSON, where what it was made of would be given again now.
   * @param key what was asked for, with all that the answer depends on beside what providers give
   */
  again(key: string, ctx: Context): string | undefined;
  /**
   * Writes a result that is made of nothing but what was given, and keeps it where the provider can be asked about that:
   * without its hints, which are the server's own then, and not for clients of every era.
   */
  keep<T extends object>(key: string, given: readonly Given[], result: T): T;
}

/** @param maxBytes 0: nothing is kept */
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
    const done: (() => void)[] = [];
    const asking: Context = { ...ctx, onceCertain: (each) => void done.push(each) };
    if (!given.every((each) => isAgain(each, asking))) return false;
    for (const each of done) each();
    return true;
  }

  return {
    again(key, ctx) {
      const kept = answers.get(key);
      if (kept === undefined || performance.now() > kept.until) return undefined;
      return areAgain(kept.given, ctx) ? kept.members : undefined;
    },
    keep(key, given, result) {
      if (!given.every((each) => isRepeatable('bodies' in each ? each.bodies : each.page))) return result;
      const contents = given.reduce((sum, each) => sum + bytesOf(each), 0);
      if (contents > MAX_ANSWER_BYTES) return result;
      const { ttlMs: _ttl, cacheScope: _scope, ...lasting } = result as Partial<CacheHint>;
      const members = jsonOf(lasting).slice(1, -1);
      // A character takes two bytes where one of them is not Latin.
      const size = ENTRY_BYTES + contents + 2 * (members.length + key.length);
      const until = performance.now() + MAX_AGE_MS;
      answers.set(key, { given, members, until }, { size });
      return markWritten(result, members);
    },
  };
}

/** Memory of what was given, in bytes; an entry that cannot be told is as large as can be. */
function bytesOf(given: Given): number {
  if ('page' in given) return LISTED_BYTES * given.page.resources.length;
  return given.bodies.reduce((sum, { content }) => sum + (knownSize(content) ?? MAX_ANSWER_BYTES + 1), 0);
}
