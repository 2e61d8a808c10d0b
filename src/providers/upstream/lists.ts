/**
 * Lists of an upstream, a page at a time: its cursors are carried along, its pages cut where they are longer than what is
 * wanted, and a cursor that comes again ends the list, with a word about it.
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

/** Asks for one page of the upstream's own. */
export type Fetch = (cursor: string | undefined, ctx: Context) => Promise<Data>;

/** Gives those of the entries back that are valid. */
export type Keep = (entries: readonly unknown[], ctx: Context) => Promise<readonly Data[]>;

export interface List {
  /** Names it: its method, and what it is of. */
  readonly key: string;
  /** Of the result where the entries are. */
  readonly field: string;
  /** Returns the text that tells one entry from another. */
  readonly idOf: (entry: Data) => string;
  readonly fetch: Fetch;
  readonly keep: Keep;
  /** Pages that are being fetched, for others who ask for them. Undefined where each has to ask for itself. */
  readonly fetching?: Fetching;
}

export type Fetching = Coalescing<FetchedPage<Data>>;

export interface Lists {
  page(list: List, page: Page, ctx: Context): Promise<ListedPage>;
  /** Forgets pages that were cut: the list has changed. */
  forget(key: string): void;
}

/** The position of a list. */
interface Position {
  /** The upstream's cursor of the page that is being given; undefined for the first. */
  readonly cursor: string | undefined;
  /** Behind which of its entries: undefined for its first one. */
  readonly after: Place | undefined;
  /** Marks of the cursors that were used, to know one that comes again. */
  readonly used: readonly string[];
}

/** Marks of the entries that were given last, the very last one first, and its place. */
type Place = readonly [index: number, ...marks: string[]];

/** The most entries that a place is known by: as long as one of them is left, what comes and goes around them moves nothing. */
const MAX_PLACE_MARKS = 8;

/** The most pages that are kept because they were longer than what was wanted of them, their bytes in memory, and milliseconds. */
const MAX_KEPT = 8;
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const KEPT_MS = 30_000;

/** The most marks that go with a position. Beyond them every other one is dropped: a loop passes those that are left, too. */
const MAX_MARKS = 1_024;

export function createLists(name: string): Lists {
  const kept = new LRUCache<string, FetchedPage<Data>>({
    max: MAX_KEPT,
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ entries }) => weightOf(entries),
    ttl: KEPT_MS,
    // Whoever stops half-way leaves a page behind.
    ttlAutopurge: true,
  });

  /** The server's own page, as far as it is valid. */
  async function fetched({ key, field, fetch, keep, fetching }: List, cursor: string | undefined, ctx: Context) {
    async function work(own: Context): Promise<FetchedPage<Data>> {
      const { entries, next } = pageIn(await fetch(cursor, own), field, name);
      return { entries: await keep(entries, own), next };
    }
    if (fetching === undefined) return work(ctx);
    return fetching.run(JSON.stringify([key, cursor, ctx.principal.id, capabilitiesOf(ctx)]), ctx, work);
  }

  return {
    async page(list, { cursor, limit }, ctx) {
      const { key, idOf } = list;
      const at = cursor === undefined ? START : parse(cursor);
      const keptAs = JSON.stringify([key, ctx.principal.id, at.cursor]);
      const known = at.after === undefined ? undefined : kept.get(keptAs);
      const { entries, next } = known ?? (await fetched(list, at.cursor, ctx));
      const from = at.after === undefined ? 0 : placeAfter(entries, at.after, idOf);
      const to = from + limit;
      const given = entries.slice(from, to);
      if (given.length > 0 && to < entries.length) {
        // Others who shared it have kept it by now.
        if (known === undefined && kept.peek(keptAs)?.entries !== entries) kept.set(keptAs, { entries, next });
        const marks = entries.slice(Math.max(0, to - MAX_PLACE_MARKS), to).map((entry) => markOf(idOf(entry)));
        return { entries: given, nextCursor: write({ ...at, after: [to - 1, ...marks.reverse()] }) };
      }
      kept.delete(keptAs);
      if (next === undefined) return { entries: given, nextCursor: undefined };
      const mark = markOf(next);
      if (at.used.includes(mark)) {
        ctx.log.warn('an upstream repeats a cursor: its list ends here', { mount: name, list: key });
        ctx.notes?.missing({ mount: name, reason: 'The server repeats a cursor; its list ends there' });
        return { entries: given, nextCursor: undefined };
      }
      return {
        entries: given,
        nextCursor: write({ cursor: next, after: undefined, used: [...thinned(at.used), mark] }),
      };
    },
    forget(key) {
      const begins = `${JSON.stringify([key]).slice(0, -1)},`;
      for (const each of [...kept.keys()]) if (each.startsWith(begins)) kept.delete(each);
    },
  };
}

const START: Position = { cursor: undefined, after: undefined, used: [] };

const thinned = (used: readonly string[]): readonly string[] =>
  used.length < MAX_MARKS ? used : used.filter((_, index) => index % 2 === 1);

const markOf = (text: string): string => numberOf(text).toString(36);

/** Behind the last entry that was given and is still there; where none of them is, where they were. */
function placeAfter(entries: readonly Data[], [index, ...marks]: Place, idOf: (entry: Data) => string): number {
  const there = entries[index];
  if (there !== undefined && markOf(idOf(there)) === marks[0]) return index + 1;
  const places = new Map(entries.map((entry, place) => [markOf(idOf(entry)), place]));
  const found = marks.map((mark) => places.get(mark)).find((place) => place !== undefined);
  return found === undefined ? Math.min(index + 1 - marks.length, entries.length) : found + 1;
}

export interface FetchedPage<T> {
  readonly entries: readonly T[];
  readonly next: string | undefined;
}

/** @throws ResourceError `internal` for a result that is no such list */
function pageIn(result: Data, field: string, name: string): FetchedPage<unknown> {
  const entries = entriesIn(result, field);
  if (entries === undefined) {
    throw new ResourceError('internal', `The server behind "${name}" gave a list that is not valid`);
  }
  return { entries, next: cursorIn(result) };
}

const write = ({ cursor, after, used }: Position): string => JSON.stringify([cursor ?? null, after ?? null, used]);

/** @throws ResourceError `invalid` */
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
