/**
 * Removes tables and rows that the caller may not see from answers about several: descriptions, pages, counts and
 * completions. The URI of each table and row decides; a row without a URI belongs to its table.
 */
import type { Context } from '../../core/context.ts';
import { knownOf, type ShownCatalogue } from './catalogues.ts';
import type { Parameter, Table } from './dialect.ts';
import { encodeKey, type Key } from './keys.ts';
import { isKeyed, type Keyed, type Places, tablePath } from './place.ts';
import type { Row, RowPage, RowReader } from './rows.ts';

/** The most keys that are checked for one count, or for one completion. */
export const MAX_KEYS_LOOKED_AT = 10_000;

/** The most pages that are read for one page of visible rows. */
const MAX_PAGES = 20;

/** Keys that are fetched together. */
const STEP = 500;

/** The note on pages and counts of rows with URIs while access rules apply, even if no row is left out. */
export const ROWS_LEFT_OUT = 'Rows that the reader may not have are left out.';

/** Returns the catalogue with the tables that the caller may list. */
export async function seenTables(known: ShownCatalogue, places: Places, { may }: Context): Promise<ShownCatalogue> {
  if (may === undefined) return known;
  const seen: Table[] = [];
  for (const table of known.tables) if (await may('list', places.uriOf(tablePath(table)))) seen.push(table);
  return seen.length === known.tables.length ? known : knownOf(seen);
}

async function seenRows<T extends Pick<Row, 'segment'>>(
  table: Table,
  rows: readonly T[],
  places: Places,
  { may }: Context,
): Promise<readonly T[]> {
  if (may === undefined) return rows;
  const seen: T[] = [];
  for (const row of rows) {
    const { segment } = row;
    // A row without a key has no URI of its own.
    if (segment === undefined || (await may('read', places.uriOf([...tablePath(table), segment])))) seen.push(row);
  }
  return seen;
}

/** Returns a page without forbidden rows, filled with the next rows. So a link to the page after it names only a visible row. */
export async function seenPage(
  table: Table,
  after: Key | undefined,
  limit: number,
  fetch: (after: Key | undefined) => Promise<RowPage>,
  places: Places,
  ctx: Context,
): Promise<RowPage> {
  const first = await fetch(after);
  if (ctx.may === undefined) return first;
  const rows: Row[] = [];
  let page = first;
  for (let pages = 1; ; pages++) {
    rows.push(...(await seenRows(table, page.rows, places, ctx)));
    const last = page.rows.at(-1)?.key;
    if (!page.more || last === undefined || rows.length >= limit || pages >= MAX_PAGES)
      return { rows: rows.slice(0, limit), more: page.more || rows.length > limit };
    page = await fetch(last);
  }
}

/** Counts the readable rows; `more` says that some were not checked. Undefined if no policy applies, or if rows have no URIs. */
export async function seenCount(
  table: Table,
  reader: RowReader,
  places: Places,
  ctx: Context,
): Promise<{ readonly rows: number; readonly more: boolean } | undefined> {
  if (ctx.may === undefined || !isKeyed(table)) return undefined;
  let rows = 0;
  let after: Key | undefined;
  for (let looked = 0; looked < MAX_KEYS_LOOKED_AT; looked += STEP) {
    const page = await reader.page(table, after, STEP, { columns: [] }, ctx);
    rows += (await seenRows(table, page.rows, places, ctx)).length;
    after = page.rows.at(-1)?.key;
    if (!page.more || after === undefined) return { rows, more: false };
  }
  return { rows, more: true };
}

/** Returns the values of a key column that lead to a listable row, given the values of the columns before it. */
export async function seenValues(
  table: Keyed,
  before: readonly Parameter[],
  values: readonly Parameter[],
  { reader, places }: { readonly reader: RowReader; readonly places: Places },
  ctx: Context,
): Promise<readonly Parameter[]> {
  const { may } = ctx;
  if (may === undefined) return values;
  let left = MAX_KEYS_LOOKED_AT;

  async function leadsToSeen(key: readonly Parameter[]): Promise<boolean> {
    if (--left < 0) return false;
    if (key.length === table.identity.columns.length) {
      const segment = encodeKey({ values: key }, table.identity);
      return segment !== undefined && (await may?.('list', places.uriOf([...tablePath(table), segment]))) === true;
    }
    const next = await reader.keys(table, key, [], STEP, ctx);
    for (const value of next) if (await leadsToSeen([...key, value])) return true;
    return false;
  }

  const seen: Parameter[] = [];
  for (const value of values) if (await leadsToSeen([...before, value])) seen.push(value);
  return seen;
}
