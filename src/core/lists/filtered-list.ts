/** Filters lists: pages are full, and nothing about a page tells how many entries are left out. */
import type { Context } from '../context.ts';
import type { Page } from '../provider.ts';
import { loseEntry } from './entries.ts';

export interface ListedPage<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string | undefined;
  readonly whole?: boolean | undefined;
}

/** The most entries that are looked at for one page. A page is short if so many hold too few that can be shown. */
export const MAX_LOOKED_AT = 10_000;

/** Entries that one request asks for to find out whether there is another page. */
const STEP = 64;

/**
 * Returns a page of the entries that `keep` returns. The page is full as long as there are more entries to show, and it has a
 * next cursor only if the next page has an entry. So neither its size nor its cursor tells of entries that are left out. There
 * are two exceptions: the search for entries ends after `MAX_LOOKED_AT`, and a page ends where `whole` changes.
 *
 * @param list lists all entries; `quietly` means that none of them will be shown
 * @param keep returns the entry as it is shown, or undefined to leave it out; an entry that `keep` fails at is left out
 */
export async function fillPage<T>(
  list: (page: Page, quietly: boolean) => Promise<ListedPage<T>>,
  page: Page,
  keep: (item: T) => T | undefined | Promise<T | undefined>,
  ctx: Context,
): Promise<ListedPage<T>> {
  const items: T[] = [];
  let whole: boolean | undefined;
  let cursor = page.cursor;
  for (let looked = 0; looked < MAX_LOOKED_AT; ) {
    const got = await list({ ...page, cursor, limit: page.limit - items.length }, false);
    const kept = await keepAll(got.items, keep, ctx);
    // A walk over everything treats pages that are `whole` differently from others, so a page must not mix their items.
    if (items.length > 0 && kept.length > 0 && got.whole !== whole) return { items, whole, nextCursor: cursor };
    if (kept.length > 0) whole = got.whole;
    items.push(...kept);
    if (got.nextCursor === undefined) return { items, whole };
    cursor = got.nextCursor;
    looked += Math.max(1, got.items.length);
    if (items.length >= page.limit) break;
  }
  if (items.length < page.limit) return { items, whole, nextCursor: cursor };
  const more = await hasMore(list, { ...page, cursor, limit: STEP }, keep, { ...ctx, notes: undefined });
  return more ? { items, whole, nextCursor: cursor } : { items, whole };
}

async function hasMore<T>(
  list: (page: Page, quietly: boolean) => Promise<ListedPage<T>>,
  page: Page,
  keep: (item: T) => T | undefined | Promise<T | undefined>,
  ctx: Context,
): Promise<boolean> {
  let { cursor } = page;
  for (let looked = 0; looked < MAX_LOOKED_AT; ) {
    const got = await list({ ...page, cursor }, true);
    if ((await keepAll(got.items, keep, ctx)).length > 0) return true;
    if (got.nextCursor === undefined) return false;
    cursor = got.nextCursor;
    looked += Math.max(1, got.items.length);
  }
  return true;
}

async function keepAll<T>(
  items: readonly T[],
  keep: (item: T) => T | undefined | Promise<T | undefined>,
  ctx: Context,
): Promise<T[]> {
  const kept: T[] = [];
  for (const item of items) {
    try {
      const result = keep(item);
      const shown = result instanceof Promise ? await result : result;
      if (shown !== undefined) kept.push(shown);
    } catch (error) {
      loseEntry(item, error, ctx);
    }
  }
  return kept;
}
