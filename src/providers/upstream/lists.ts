/**
 * Reads lists of an upstream, a page at a time. A cursor here contains the upstream's cursor. A page that is longer than
 * wanted is cut. If the upstream repeats a cursor, the list ends with a note that says so.
 */
import { LRUCache } from 'lru-cache';
import type { Data } from '../../connection/data.ts';
import { markOf as numberOf } from '../../connection/paging.ts';
import { cursorIn, entriesIn } from '../../connection/results.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { Page } from '../../core/provider.ts';
import { weightOf } from '../../core/weight.ts';
import { capabilitiesOf } from './clients.ts';
import type { Coalescing } from './coalescing.ts';

export interface ListedPage {
  readonly entries: readonly Data[];
  readonly nextCursor: string | undefined;
}

/** Asks the upstream for one of its pages. */
export type Fetch = (cursor: string | undefined, ctx: Context) => Promise<Data>;

/** Returns the valid entries. */
export type KeepValid = (entries: readonly unknown[], ctx: Context) => Promise<readonly Data[]>;

export interface List {
  /** Identifies the list: its method and its subject. */
  readonly key: string;
  /** The field of the result that has the entries. */
  readonly field: string;
  /** Returns the text that tells one entry from another. */
  readonly idOf: (entry: Data) => string;
  readonly fetch: Fetch;
  readonly keep: KeepValid;
  /** Shares pages that are being fetched among callers. Undefined if each caller has to fetch its own. */
  readonly fetching?: Fetching;
}

export type Fetching = Coalescing<FetchedPage<Data>>;

export interface Lists {
  page(list: List, page: Page, ctx: Context): Promise<ListedPage>;
  /** Lists have changed: forgets their kept pages. @param has whether the list with a key has changed */
  forget(has: (key: string) => boolean): void;
}

/** A position in a list, which the cursor contains. */
interface Position {
  /** The upstream's cursor of the present page; undefined for the first page. */
  readonly cursor: string | undefined;
  /** The place in that page to go on after; undefined for its beginning. */
  readonly after: Place | undefined;
  /** Marks of the cursors that were used, to notice one that is repeated. */
  readonly used: readonly string[];
}

/** The index of the entry that was given last, and the marks of the last entries, the very last one first. */
type Place = readonly [index: number, ...marks: string[]];

/** The most marks of a place. As long as one of these entries is left, changes around them do not move the place. */
const MAX_PLACE_MARKS = 8;

/** The most cut pages that are kept for the rest of their entries. */
const MAX_KEPT = 8;
/** The most bytes of memory that these pages take. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
/** How long such a page is kept, in milliseconds. */
const KEPT_MS = 30_000;

/** The most marks of cursors in a position. Beyond that every other one is dropped, since a loop also repeats the others. */
const MAX_MARKS = 1_024;

export function createLists(name: string): Lists {
  const kept = new LRUCache<string, FetchedPage<Data>>({
    max: MAX_KEPT,
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ entries }) => weightOf(entries),
    ttl: KEPT_MS,
    // A caller that stops half-way leaves a page behind.
    ttlAutopurge: true,
  });

  /** How many times pages were forgotten. A page is not kept if this has grown since it was requested. */
  let forgotten = 0;

  /** Fetches one of the upstream's pages, with the valid entries only. */
  async function fetched({ key, field, fetch, keep, fetching }: List, cursor: string | undefined, ctx: Context) {
    async function work(workCtx: Context): Promise<FetchedPage<Data>> {
      const { entries, next } = pageIn(await fetch(cursor, workCtx), field, name);
      return { entries: await keep(entries, workCtx), next };
    }
    if (fetching === undefined) return work(ctx);
    return fetching.run(pageKey(key, cursor, ctx), ctx, work);
  }

  return {
    async page(list, { cursor, limit }, ctx) {
      const { key, idOf } = list;
      const at = cursor === undefined ? START : parse(cursor);
      const keptAs = pageKey(key, at.cursor, ctx);
      const cut = at.after === undefined ? undefined : kept.get(keptAs);
      const forgottenBefore = forgotten;
      const { entries, next } = cut ?? (await fetched(list, at.cursor, ctx));
      const from = at.after === undefined ? 0 : placeAfter(entries, at.after, idOf);
      const to = from + limit;
      const shown = entries.slice(from, to);
      if (shown.length > 0 && to < entries.length) {
        // Another caller that shared the fetch may have kept the page already.
        if (cut === undefined && forgottenBefore === forgotten && kept.peek(keptAs)?.entries !== entries)
          kept.set(keptAs, { entries, next });
        const marks = entries.slice(Math.max(0, to - MAX_PLACE_MARKS), to).map((entry) => markOf(idOf(entry)));
        return { entries: shown, nextCursor: write({ ...at, after: [to - 1, ...marks.reverse()] }) };
      }
      kept.delete(keptAs);
      if (next === undefined) return { entries: shown, nextCursor: undefined };
      const mark = markOf(next);
      if (at.used.includes(mark)) {
        ctx.log.warn('an upstream repeats a cursor: its list ends here', { mount: name, list: key });
        ctx.notes?.missing({ mount: name, reason: 'The server repeats a cursor; its list ends there' });
        return { entries: shown, nextCursor: undefined };
      }
      return {
        entries: shown,
        nextCursor: write({ cursor: next, after: undefined, used: [...thinned(at.used), mark] }),
      };
    },
    forget(has) {
      forgotten++;
      for (const each of [...kept.keys()]) if (has(listIn(each))) kept.delete(each);
    },
  };
}

/** Identifies a page. An upstream may give other pages to other principals, and to clients with other capabilities. */
const pageKey = (list: string, cursor: string | undefined, ctx: Context): string =>
  JSON.stringify([list, cursor, ctx.principal.id, capabilitiesOf(ctx)]);

const listIn = (key: string): string => (JSON.parse(key) as readonly [string])[0];

const START: Position = { cursor: undefined, after: undefined, used: [] };

const thinned = (used: readonly string[]): readonly string[] =>
  used.length < MAX_MARKS ? used : used.filter((_, index) => index % 2 === 1);

const markOf = (text: string): string => numberOf(text).toString(36);

/** Returns the index after the last given entry that is still there; if none is, the index where they were. */
function placeAfter(entries: readonly Data[], [index, ...marks]: Place, idOf: (entry: Data) => string): number {
  const entry = entries[index];
  if (entry !== undefined && markOf(idOf(entry)) === marks[0]) return index + 1;
  const places = new Map(entries.map((candidate, place) => [markOf(idOf(candidate)), place]));
  const found = marks.map((mark) => places.get(mark)).find((place) => place !== undefined);
  return found === undefined ? Math.min(index + 1 - marks.length, entries.length) : found + 1;
}

export interface FetchedPage<T> {
  readonly entries: readonly T[];
  readonly next: string | undefined;
}

/** @throws ResourceError `internal` if the result has no such list */
function pageIn(result: Data, field: string, name: string): FetchedPage<unknown> {
  const entries = entriesIn(result, field);
  if (entries === undefined) {
    throw new ResourceError('internal', `The server behind "${name}" gave a list that is not valid`);
  }
  return { entries, next: cursorIn(result) };
}

const write = ({ cursor, after, used }: Position): string => JSON.stringify([cursor ?? null, after ?? null, used]);

/** @throws ResourceError `invalid` for a text that is not a cursor of this module */
function parse(text: string): Position {
  try {
    const [cursor, after, used] = JSON.parse(text) as readonly unknown[];
    if (Array.isArray(used) && (cursor === null || typeof cursor === 'string')) {
      const place: Place | undefined = Array.isArray(after)
        ? [Number(after[0]), ...after.slice(1).map(String)]
        : undefined;
      return { cursor: cursor ?? undefined, after: place, used: used.filter((mark) => typeof mark === 'string') };
    }
  } catch {}
  throw invalid('The cursor is not one of this list; list again without it');
}
