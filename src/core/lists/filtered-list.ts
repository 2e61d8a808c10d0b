/** Lists of what may be seen: full pages, and nothing that tells how much is left out. */
import type { Context } from '../context.ts';
import type { Page } from '../provider.ts';
import { loseEntry } from './entries.ts';

export interface ListedPage<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string | undefined;
  readonly whole?: boolean | undefined;
}

/** The most entries that are looked at for one page; it is short when nothing can be shown among so many. */
export const MAX_LOOKED_AT = 10_000;

/** Entries that are looked at together, to find out whether there is another page. */
const STEP = 64;

/**
 * A page of what `keep` gives back. It is full as long as there is more, and it names a next one only where something
 * is on it, so that neither its size nor its cursor tells of what is left out.
 *
 * @param list the list with everything; `quietly` when nothing of it will be shown
 * @param keep the entry as it is shown, or undefined; an entry that it fails at is left out
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
    // Whoever goes down tells lists that are whole from those that are not: a page does not mix them.
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
      const shown = keep(item);
      const given = shown instanceof Promise ? await shown : shown;
      if (given !== undefined) kept.push(given);
    } catch (error) {
      loseEntry(item, error, ctx);
    }
  }
  return kept;
}
