/** Lists the tables of a database, the rows of a table, and saved queries. A position names the last entry shown. */
import type { Context } from '../../core/context.ts';
import { invalid, notListable } from '../../core/errors.ts';
import type { Page, ResourcePage } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { ShownCatalogue } from './catalogues.ts';
import type { OpenDatabase } from './database.ts';
import { decodeKey, encodeKey, type Key } from './keys.ts';
import { isKeyed, type Keyed, type Place } from './place.ts';
import type { Resources } from './resources.ts';
import type { Row } from './rows.ts';

/** The most characters of a key in a position. */
const MAX_POSITION_LENGTH = 100_000;

/** Lists the children of a place. @throws ResourceError `not-listable`; `invalid` for a cursor of another list */
export async function listPlace(
  database: OpenDatabase,
  resources: Resources,
  place: Place,
  uri: string,
  known: ShownCatalogue,
  page: Page,
  ctx: Context,
): Promise<ResourcePage> {
  switch (place.kind) {
    case 'database':
      return pageOf(databaseEntries(database, resources, known, page), page);
    case 'schema':
      return pageOf([resources.overview(place.schema), ...known.within(place.schema).map(resources.table)], page);
    case 'queries':
      return pageOf(
        [...database.saved.values()].filter(({ bare }) => bare).map(({ name }) => resources.query(name)),
        page,
      );
    case 'table':
      return listTable(database, resources, place.table, page, ctx);
    default:
      // Throws `not-found` if the row does not exist, rather than `not-listable`.
      await resources.of(place, uri, ctx);
      throw notListable(uri);
  }
}

function databaseEntries(
  { dialect, saved }: OpenDatabase,
  resources: Resources,
  known: ShownCatalogue,
  page: Page,
): readonly Resource[] {
  const tables = dialect.hasSchemas ? known.schemas.map(resources.schema) : known.tables.map(resources.table);
  const special = [
    ...(page.containersOnly ? [] : [resources.overview(undefined)]),
    ...(saved.size > 0 ? [resources.queries()] : []),
  ];
  return [...special, ...tables];
}

/** Returns an entry's sort key: Vitrine's own entries come first, then names by their characters. */
const positionOf = ({ uri, name }: Resource): string => (/\/~[a-z]+$/.test(uri) ? `a${name}` : `b${name}`);

function pageOf(entries: readonly Resource[], { cursor, limit }: Page): ResourcePage {
  const sorted = entries
    .map((resource) => ({ resource, position: positionOf(resource) }))
    .sort((a, b) => (a.position < b.position ? -1 : a.position > b.position ? 1 : 0));
  const rest = cursor === undefined ? sorted : sorted.filter(({ position }) => position > cursor);
  const shown = rest.slice(0, limit);
  return {
    resources: shown.map(({ resource }) => resource),
    nextCursor: rest.length > shown.length ? shown.at(-1)?.position : undefined,
  };
}

async function listTable(
  { config, reader }: OpenDatabase,
  resources: Resources,
  table: Keyed | Parameters<Resources['table']>[0],
  { cursor, limit, containersOnly }: Page,
  ctx: Context,
): Promise<ResourcePage> {
  if (containersOnly) return { resources: [] };
  const own = [resources.description(table), resources.rows(table), resources.count(table)];
  const listsRows = config.listRows && isKeyed(table);
  const { from, after } = startOf(cursor, own, listsRows ? table : undefined);
  const shown = own.slice(from, from + limit);
  if (!listsRows) return { resources: shown, nextCursor: from + limit < own.length ? ownPosition(shown) : undefined };
  const room = limit - shown.length;
  if (room === 0) return { resources: shown, nextCursor: ownPosition(shown) };
  const label = resources.labelOf(table);
  const { rows, more } = await reader.page(table, after, room, { columns: label === undefined ? [] : [label] }, ctx);
  const last = rows.at(-1)?.key;
  return {
    resources: [...shown, ...rows.filter(hasSegment).map((row) => resources.row(table, row))],
    nextCursor:
      more && last !== undefined ? `r${encodeKey(last, table.identity, MAX_POSITION_LENGTH) ?? ''}` : undefined,
  };
}

const hasSegment = (row: Row): row is Row & { readonly segment: string } => row.segment !== undefined;

const ownPosition = (shown: readonly Resource[]): string => `o${shown.at(-1)?.name ?? ''}`;

/** Reads the position in the list of a table: Vitrine's own entries come first, then the rows. */
function startOf(
  cursor: string | undefined,
  own: readonly Resource[],
  table: Keyed | undefined,
): { readonly from: number; readonly after: Key | undefined } {
  if (cursor === undefined) return { from: 0, after: undefined };
  const at = cursor.startsWith('o') ? own.findIndex(({ name }) => name === cursor.slice(1)) : -1;
  if (at !== -1) return { from: at + 1, after: undefined };
  const after =
    table !== undefined && cursor.startsWith('r')
      ? decodeKey(cursor.slice(1), table.identity, MAX_POSITION_LENGTH)
      : undefined;
  if (after === undefined) throw invalid('The cursor is not one of this list');
  return { from: own.length, after };
}
