/** Describes each place without reading its content, in the same way whether it is listed or asked for alone. */
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { FORMATS_META_KEY } from '../../protocol/meta.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import type { OpenDatabase } from './database.ts';
import { DESCRIPTION_FORMATS, displayName } from './descriptions.ts';
import type { Column, Table } from './dialect.ts';
import { encodeKey, encodeName, type Key } from './keys.ts';
import type { Keyed, Place } from './place.ts';
import { AFTER, COUNT, QUERIES, ROWS, SCHEMA, tablePath } from './place.ts';
import type { Row } from './rows.ts';
import { JSON_TYPE, SHEET_FORMATS } from './sheets.ts';

/** The formats of a row; the first is the default. */
export const ROW_FORMATS = DESCRIPTION_FORMATS;

/** Names of the columns that can give a row its title if the configuration names none, best first. */
const LABELS: readonly string[] = ['title', 'name', 'label', 'displayname', 'fullname', 'subject', 'username', 'email'];

/** The most characters of a title. */
const MAX_TITLE = 120;

export interface Resources {
  /**
   * Describes any place.
   * @throws ResourceError `not-found` if there is no such row or value any more; `invalid` for parameters that a saved query
   *   does not allow
   */
  of(place: Place, uri: string, ctx: Context): Promise<Resource>;
  database(): Resource;
  schema(schema: string): Resource;
  overview(schema: string | undefined): Resource;
  table(table: Table): Resource;
  description(table: Table): Resource;
  rows(table: Table, after?: Key): Resource;
  count(table: Table): Resource;
  row(table: Keyed, row: Row & { readonly segment: string }): Resource;
  queries(): Resource;
  query(name: string, uri?: string): Resource;
  /** Returns the column whose values are the titles of rows. */
  labelOf(table: Table): Column | undefined;
}

export function createResources({ name, dialect, config, saved, places, reader, watches }: OpenDatabase): Resources {
  const { uriOf } = places;
  const labels = new WeakMap<Table, { readonly column: Column | undefined }>();

  const container = (path: readonly string[], entry: string, details: Partial<Resource> = {}): Resource => ({
    uri: uriOf(path),
    name: entry,
    ...details,
    mimeType: DIRECTORY_MIME_TYPE,
    capabilities: { list: true, subscribe: watches },
  });

  const leaf = (uri: string, entry: string, formats: readonly string[], details: Partial<Resource> = {}): Resource => ({
    uri,
    name: entry,
    ...details,
    ...(formats[0] !== undefined && { mimeType: formats[0] }),
    capabilities: { list: false, subscribe: watches },
    ...(formats.length > 1 && { _meta: { [FORMATS_META_KEY]: formats.map((mimeType) => ({ mimeType })) } }),
  });

  function labelOf(table: Table): Column | undefined {
    const cached = labels.get(table);
    if (cached !== undefined) return cached.column;
    const column = findLabel(table, config.labels);
    labels.set(table, { column });
    return column;
  }

  const self: Resources = {
    labelOf,
    database: () => container([], name, { title: name === dialect.title ? name : `${name} (${dialect.title})` }),
    schema: (schema) => container([encodeName(schema)], schema),
    table: (table) =>
      container(tablePath(table), table.name, table.comment === undefined ? {} : { description: table.comment }),
    overview: (schema) =>
      leaf(uriOf([...(schema === undefined ? [] : [encodeName(schema)]), SCHEMA]), SCHEMA, DESCRIPTION_FORMATS, {
        title: schema === undefined ? 'Tables' : `Tables of ${schema}`,
        description: 'Its tables and views with the names of their columns',
      }),
    description: (table) =>
      leaf(uriOf([...tablePath(table), SCHEMA]), SCHEMA, DESCRIPTION_FORMATS, {
        title: `Columns of ${displayName(table)}`,
        description: 'Columns, types, keys, foreign keys, indexes and comments',
      }),
    rows(table, after) {
      const key = after === undefined || table.identity === undefined ? undefined : encodeKey(after, table.identity);
      const path = [...tablePath(table), ...(key === undefined ? [ROWS] : [AFTER, key])];
      return leaf(uriOf(path), key ?? ROWS, SHEET_FORMATS, {
        title: `Rows of ${displayName(table)}`,
        description:
          key === undefined ? 'The first page of its rows' : 'The page of its rows after the row with this key',
      });
    },
    count: (table) =>
      leaf(uriOf([...tablePath(table), COUNT]), COUNT, [JSON_TYPE], { title: `Row count of ${displayName(table)}` }),
    row(table, { segment, values: [label] }) {
      const title =
        typeof label === 'string' ? oneLine(label).slice(0, MAX_TITLE).toWellFormed() || undefined : undefined;
      return leaf(uriOf([...tablePath(table), segment]), segment, ROW_FORMATS, title === undefined ? {} : { title });
    },
    queries: () => container([QUERIES], QUERIES, { title: 'Saved queries' }),
    query(query, uri = uriOf([QUERIES, query])) {
      const { title, description } = saved.get(query)?.query ?? {};
      return leaf(uri, query, SHEET_FORMATS, {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
      });
    },

    async of(place, uri, ctx) {
      switch (place.kind) {
        case 'database':
          return self.database();
        case 'schema':
          return self.schema(place.schema);
        case 'overview':
          return self.overview(place.schema);
        case 'table':
          return self.table(place.table);
        case 'description':
          return self.description(place.table);
        case 'count':
          return self.count(place.table);
        case 'rows':
          return self.rows(place.table, place.after);
        case 'queries':
          return self.queries();
        case 'query':
          // Throws for a parameter that is not allowed, as a read of the query does.
          saved.get(place.name)?.statement(uri);
          return self.query(place.name, uri);
        case 'row': {
          const label = labelOf(place.table);
          const row = await reader.one(place.table, place.key, { columns: label === undefined ? [] : [label] }, ctx);
          if (row?.segment === undefined) throw notFound(uri);
          return self.row(place.table, { ...row, segment: row.segment });
        }
        case 'value': {
          const { table, key, column } = place;
          const row = await reader.one(table, key, { columns: [column], maxValueBytes: 0 }, ctx);
          if (row === undefined || row.values[0] === null) throw notFound(uri);
          return leaf(
            uriOf([...tablePath(table), row.segment ?? '', encodeName(column.name)]),
            column.name,
            typeOf(column),
          );
        }
      }
    },
  };
  return self;
}

const oneLine = (text: string): string => text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();

/** Returns the MIME type of a value before it is read, by the kind of its column; none for `any`. */
const typeOf = ({ kind }: Column): readonly string[] =>
  kind === 'bytes' ? ['application/octet-stream'] : kind === 'any' ? [] : ['text/plain'];

function findLabel(table: Table, labels: Readonly<Record<string, string>> = {}): Column | undefined {
  const configured = [displayName(table), table.name].map((name) =>
    Object.hasOwn(labels, name) ? labels[name] : undefined,
  );
  const wanted = configured.find((name) => name !== undefined);
  if (wanted !== undefined) return table.columns.find(({ name }) => name === wanted);
  const texts = table.columns.filter(({ kind, name }) => kind === 'text' && !table.primaryKey.includes(name));
  const plain = (name: string): string => name.toLowerCase().replace(/[_ -]/g, '');
  for (const label of LABELS) {
    const found = texts.find(({ name }) => plain(name) === label || plain(name) === plain(table.name) + label);
    if (found !== undefined) return found;
  }
  return undefined;
}
