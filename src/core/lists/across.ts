/**
 * One list over several sources, a page at a time and without collecting it: the cursor is the name of a source and that
 * source's own cursor. A source that is slow is passed over and gets its turn at the end; one that fails is left out, and
 * the answer says so. So a source delays and harms its own part only.
 */

import { type Context, withSignal } from '../context.ts';
import { invalid, ResourceError } from '../errors.ts';
import { type HeldNotes, holdNotes } from '../notes.ts';
import type { Page } from '../provider.ts';
import { inTime, LATE } from '../waiting/in-time.ts';

export interface SourcePage<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string | undefined;
  /** Goes to the page that is made of it; a page is of one kind only. */
  readonly whole?: boolean | undefined;
}

export interface ListSource<T> {
  readonly name: string;
  /** It may be slow, and it may be away. */
  readonly remote: boolean;
  list(page: Page, ctx: Context): Promise<SourcePage<T>>;
}

/** How long the first slow source of a page may take before the others go first, in milliseconds; the next half of it. */
export const PATIENCE_MS = 1_000;

/** The position of a list. */
interface Position {
  readonly source: string;
  readonly cursor?: string | undefined;
  /** Sources that were passed over, and where in them; their turn comes after the others, in this order. */
  readonly later: readonly Passed[];
  /** Whether the sources that were passed over are being gone through. */
  readonly last: boolean;
}

type Passed = readonly [source: string, cursor: string | null];

/** Remote sources that are asked at once. A page begins with one, and as long as it is not full, there are twice as many. */
const MAX_AT_ONCE = 16;

/** @throws ResourceError `invalid` for a cursor of a source that is gone, and what the only source throws */
export async function pageAcross<T>(
  sources: readonly ListSource<T>[],
  page: Page,
  ctx: Context,
): Promise<{ items: T[]; nextCursor?: string | undefined; whole?: boolean | undefined }> {
  const byName = new Map(sources.map((source) => [source.name, source]));
  const order = sources.map((source) => source.name);
  let at: Position | undefined = page.cursor === undefined ? first(order) : parse(page.cursor);
  const items: T[] = [];
  let whole: boolean | undefined;
  let patienceMs = PATIENCE_MS;
  let atOnce = 1;
  /** Sources that were asked before their turn. */
  const asked = new Map<string, Asked<T>>();

  function askFrom(name: string, from: Page): void {
    const remote = order.slice(order.indexOf(name)).flatMap((each) => byName.get(each) ?? []);
    for (const source of remote.filter((each) => each.remote).slice(0, atOnce)) {
      if (!asked.has(source.name)) asked.set(source.name, ask(source, from, ctx));
    }
    atOnce = Math.min(2 * atOnce, MAX_AT_ONCE);
  }

  try {
    while (at !== undefined) {
      const source = byName.get(at.source);
      if (source === undefined) throw invalid('The cursor names a mount that is gone; list again without it');
      const others = at.last ? [] : order.slice(order.indexOf(at.source) + 1);
      // With nothing else to show there is nothing to wait behind.
      const patient = at.last || others.length + at.later.length === 0 || !source.remote;
      const manner: Manner = { patienceMs: patient ? undefined : patienceMs, only: sources.length === 1 };
      const rest: Page = { ...page, cursor: at.cursor, limit: page.limit - items.length };
      const begins = at.cursor === undefined && !at.last;
      if (source.remote && begins && !asked.has(source.name)) askFrom(source.name, rest);
      const early = begins ? asked.get(source.name) : undefined;
      asked.delete(source.name);
      let got = await take(early ?? ask(source, rest, ctx), ctx, manner);
      // It was asked for more than there is room for by now.
      if (early !== undefined && got !== SLOW && got.items.length > rest.limit) {
        got = await take(ask(source, rest, ctx), ctx, manner);
      }
      if (got === SLOW) {
        patienceMs /= 2;
        at = next({ ...at, later: [...at.later, [at.source, at.cursor ?? null]] }, order);
        continue;
      }
      // A page that is whole and one that is not are told apart by whoever walks: they are not mixed.
      if (items.length > 0 && got.items.length > 0 && got.whole !== whole)
        return { items, whole, nextCursor: write(at) };
      got.notes?.release(ctx.notes);
      if (got.items.length > 0) whole = got.whole;
      items.push(...got.items);
      at = got.nextCursor === undefined ? next(at, order) : { ...at, cursor: got.nextCursor };
      // To wait for one source that is then left out is enough for one page.
      const ends = got.nextCursor !== undefined || items.length >= page.limit || got.away === true;
      if (at !== undefined && ends) {
        return { items, whole, nextCursor: write(at) };
      }
    }
    return { items, whole };
  } finally {
    for (const each of asked.values()) each.leave();
  }
}

const SLOW = Symbol('slow');

interface TakenPage<T> extends SourcePage<T> {
  /** The source is left out. */
  readonly away?: boolean;
  /** The notes of the source, for an answer that this page is in. */
  readonly notes?: HeldNotes;
}

interface Manner {
  /** Milliseconds until the others go first; undefined: as long as it takes. */
  readonly patienceMs: number | undefined;
  /** There is no other source: its failure is the answer, unless it is only starting. */
  readonly only: boolean;
}

/** A source that was asked for a page. */
interface Asked<T> {
  readonly source: ListSource<T>;
  readonly listing: Promise<SourcePage<T>>;
  readonly notes: HeldNotes;
  /** It is not waited for any more. */
  leave(): void;
}

function ask<T>(source: ListSource<T>, page: Page, ctx: Context): Asked<T> {
  const given = new AbortController();
  const notes = holdNotes();
  const listing = source.list(page, withSignal({ ...ctx, notes }, AbortSignal.any([ctx.signal, given.signal])));
  // It may fail before its turn.
  listing.catch(() => {});
  return {
    source,
    listing,
    notes,
    leave: () => given.abort(new ResourceError('unavailable', 'Others go first')),
  };
}

async function take<T>(
  { source, listing, notes, leave }: Asked<T>,
  ctx: Context,
  { patienceMs, only }: Manner,
): Promise<TakenPage<T> | typeof SLOW> {
  try {
    if (patienceMs === undefined) return { ...(await listing), notes };
    const got = await inTime(listing, patienceMs);
    if (got !== LATE) return { ...got, notes };
    leave();
    return SLOW;
  } catch (error) {
    if (!isAway(error, source.remote) || ctx.signal.aborted) throw error;
    if (error.details.starting === true && patienceMs !== undefined) return SLOW;
    if (error.details.starting !== true && only) throw error;
    ctx.log.warn('a mount is left out of a list', { mount: source.name, reason: error.message });
    ctx.log.debug('why a mount is left out', { mount: source.name, error });
    ctx.notes?.missing({ mount: source.name, reason: error.message });
    return { items: [], away: true };
  }
}

/** Whatever another server fails with is its own failure; of what lies here, only that it cannot be reached. */
const isAway = (error: unknown, remote: boolean): error is ResourceError =>
  error instanceof ResourceError && (remote || error.code === 'unavailable' || error.code === 'timeout');

function first([source]: readonly string[]): Position | undefined {
  return source === undefined ? undefined : { source, later: [], last: false };
}

/** The source after this one; when all have had their turn, those that were passed over. */
function next({ source, later, last }: Position, order: readonly string[]): Position | undefined {
  const following = last ? undefined : order[order.indexOf(source) + 1];
  if (following !== undefined) return { source: following, later, last: false };
  const [passedOver, ...rest] = later;
  if (passedOver === undefined) return undefined;
  return { source: passedOver[0], cursor: passedOver[1] ?? undefined, later: rest, last: true };
}

const write = ({ source, cursor, later, last }: Position): string =>
  JSON.stringify(later.length === 0 && !last ? [source, cursor] : [source, cursor ?? null, later, last]);

/** @throws ResourceError `invalid` */
function parse(text: string): Position {
  try {
    const [source, cursor, later = [], last = false] = JSON.parse(text) as readonly unknown[];
    const known = cursor === undefined || cursor === null || typeof cursor === 'string';
    if (typeof source === 'string' && known && Array.isArray(later) && typeof last === 'boolean') {
      return { source, cursor: cursor ?? undefined, later: later.filter(isPassed), last };
    }
  } catch {}
  throw invalid('The cursor is not one of this list; list again without it');
}

const isPassed = (value: unknown): value is Passed =>
  Array.isArray(value) && typeof value[0] === 'string' && (value[1] === null || typeof value[1] === 'string');
