/**
 * Lists several sources as one list, page by page, without collecting it: the cursor consists of the name of a source and that
 * source's own cursor. A slow source is passed over and gets its turn at the end. A source that fails is left out, and
 * the answer says so. So a source delays or harms only its own part of the list.
 */

import { type Context, withSignal } from '../context.ts';
import { invalid, ResourceError } from '../errors.ts';
import { type HeldNotes, holdNotes } from '../notes.ts';
import type { Page } from '../provider.ts';
import { inTime, LATE } from '../waiting/in-time.ts';

export interface SourcePage<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string | undefined;
  /** Copied to the page of the whole list. That page never mixes items of pages that are `whole` with items of others. */
  readonly whole?: boolean | undefined;
}

export interface ListSource<T> {
  readonly name: string;
  /** The source may be slow or out of reach. */
  readonly remote: boolean;
  list(page: Page, ctx: Context): Promise<SourcePage<T>>;
}

/**
 * How long a page waits for its first slow source before it goes on to the others, in milliseconds; half as long for each later
 * one.
 */
export const PATIENCE_MS = 1_000;

/** The position of a list. */
interface Position {
  readonly source: string;
  readonly cursor?: string | undefined;
  /** The sources that were passed over, with the cursor in each. Their turn comes after all others, in this order. */
  readonly later: readonly Passed[];
  /** Whether `source` is one that was passed over before. */
  readonly last: boolean;
}

type Passed = readonly [source: string, cursor: string | null];

/** The most remote sources that are asked at once. A page begins with one, and doubles the number as long as it is not full. */
const MAX_AT_ONCE = 16;

/**
 * Returns one page of the list over all sources.
 * @throws ResourceError `invalid` for a cursor that is not of this list or names a source that is gone; an error of a source for
 *   which `isAway` is false; any error of the only source, unless it is still starting
 */
export async function pageAcross<T>(
  sources: readonly ListSource<T>[],
  page: Page,
  ctx: Context,
): Promise<{ items: T[]; nextCursor?: string | undefined; whole?: boolean | undefined }> {
  const byName = new Map(sources.map((source) => [source.name, source]));
  const order = sources.map((source) => source.name);
  let at: Position | undefined = page.cursor === undefined ? first(order) : parsePosition(page.cursor);
  const items: T[] = [];
  let whole: boolean | undefined;
  let patienceMs = PATIENCE_MS;
  let atOnce = 1;
  /** Requests to sources before their turn. */
  const requests = new Map<string, PageRequest<T>>();

  function askFrom(name: string, from: Page): void {
    const remote = sources.slice(order.indexOf(name)).filter((source) => source.remote);
    for (const source of remote.slice(0, atOnce)) {
      if (!requests.has(source.name)) requests.set(source.name, ask(source, from, ctx));
    }
    atOnce = Math.min(2 * atOnce, MAX_AT_ONCE);
  }

  try {
    while (at !== undefined) {
      const source = byName.get(at.source);
      if (source === undefined) throw invalid('The cursor names a mount that is gone; list again without it');
      const others = at.last ? [] : order.slice(order.indexOf(at.source) + 1);
      // If no other source is left, passing this one over would gain nothing.
      const patient = at.last || others.length + at.later.length === 0 || !source.remote;
      const options: TakeOptions = { patienceMs: patient ? undefined : patienceMs, only: sources.length === 1 };
      const rest: Page = { ...page, cursor: at.cursor, limit: page.limit - items.length };
      const begins = at.cursor === undefined && !at.last;
      if (source.remote && begins && !requests.has(source.name)) askFrom(source.name, rest);
      const early = begins ? requests.get(source.name) : undefined;
      requests.delete(source.name);
      let got = await take(early ?? ask(source, rest, ctx), ctx, options);
      // An early request may have asked for more items than the page has room for by now.
      if (early !== undefined && got !== SLOW && got.items.length > rest.limit) {
        got = await take(ask(source, rest, ctx), ctx, options);
      }
      if (got === SLOW) {
        patienceMs /= 2;
        at = next({ ...at, later: [...at.later, [at.source, at.cursor ?? null]] }, order);
        continue;
      }
      // A walk over everything treats pages that are `whole` differently from others, so a page must not mix their items.
      if (items.length > 0 && got.items.length > 0 && got.whole !== whole)
        return { items, whole, nextCursor: writePosition(at) };
      got.notes?.release(ctx.notes);
      if (got.items.length > 0) whole = got.whole;
      items.push(...got.items);
      at = got.nextCursor === undefined ? next(at, order) : { ...at, cursor: got.nextCursor };
      // A page ends after one source that is out of reach: it has waited for that source already, and should not wait for more.
      const ends = got.nextCursor !== undefined || items.length >= page.limit || got.away === true;
      if (at !== undefined && ends) {
        return { items, whole, nextCursor: writePosition(at) };
      }
    }
    return { items, whole };
  } finally {
    for (const request of requests.values()) request.leave();
  }
}

const SLOW = Symbol('slow');

interface TakenPage<T> extends SourcePage<T> {
  /** The source failed and is left out. */
  readonly away?: boolean;
  /** Notes that the source made, for the answer that contains this page. */
  readonly notes?: HeldNotes;
}

interface TakeOptions {
  /** Milliseconds after which the source is passed over; undefined: waits as long as it takes. */
  readonly patienceMs: number | undefined;
  /** There is no other source: its failure is the answer, unless it is still starting. */
  readonly only: boolean;
}

/** A request to a source for a page. */
interface PageRequest<T> {
  readonly source: ListSource<T>;
  readonly listing: Promise<SourcePage<T>>;
  readonly notes: HeldNotes;
  /** Aborts the request. */
  leave(): void;
}

function ask<T>(source: ListSource<T>, page: Page, ctx: Context): PageRequest<T> {
  const abort = new AbortController();
  const notes = holdNotes();
  const listing = source.list(page, withSignal({ ...ctx, notes }, AbortSignal.any([ctx.signal, abort.signal])));
  // The request may fail before anybody awaits it.
  listing.catch(() => {});
  return {
    source,
    listing,
    notes,
    leave: () => abort.abort(new ResourceError('unavailable', 'Others go first')),
  };
}

async function take<T>(
  { source, listing, notes, leave }: PageRequest<T>,
  ctx: Context,
  { patienceMs, only }: TakeOptions,
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
    leaveOut(source.name, error, ctx);
    return { items: [], away: true };
  }
}

/** Notes that an answer goes on without a mount. */
export function leaveOut(mount: string, error: ResourceError, ctx: Context): void {
  ctx.log.warn('a mount is left out of an answer', { mount, reason: error.message });
  ctx.log.debug('why a mount is left out', { mount, error });
  ctx.notes?.missing({ mount, reason: error.message });
}

/**
 * Whether a source is left out for this error: a remote one for any ResourceError, a local one for `unavailable` and `timeout`.
 */
export const isAway = (error: unknown, remote: boolean): error is ResourceError =>
  error instanceof ResourceError && (remote || error.code === 'unavailable' || error.code === 'timeout');

function first([source]: readonly string[]): Position | undefined {
  return source === undefined ? undefined : { source, later: [], last: false };
}

/** Returns the position of the next source; once all have had their turn, that of the first one that was passed over. */
function next({ source, later, last }: Position, order: readonly string[]): Position | undefined {
  const following = last ? undefined : order[order.indexOf(source) + 1];
  if (following !== undefined) return { source: following, later, last: false };
  const [passedOver, ...rest] = later;
  if (passedOver === undefined) return undefined;
  return { source: passedOver[0], cursor: passedOver[1] ?? undefined, later: rest, last: true };
}

const writePosition = ({ source, cursor, later, last }: Position): string =>
  JSON.stringify(later.length === 0 && !last ? [source, cursor] : [source, cursor ?? null, later, last]);

/** @throws ResourceError `invalid` */
function parsePosition(text: string): Position {
  try {
    const [source, cursor, later = [], last = false] = JSON.parse(text) as readonly unknown[];
    const isCursor = cursor === undefined || cursor === null || typeof cursor === 'string';
    if (typeof source === 'string' && isCursor && Array.isArray(later) && typeof last === 'boolean') {
      return { source, cursor: cursor ?? undefined, later: later.filter(isPassed), last };
    }
  } catch {}
  throw invalid('The cursor is not one of this list; list again without it');
}

const isPassed = (value: unknown): value is Passed =>
  Array.isArray(value) && typeof value[0] === 'string' && (value[1] === null || typeof value[1] === 'string');
