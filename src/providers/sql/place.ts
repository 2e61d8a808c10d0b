/**
 * Finds the place that a URI of a database names, and makes the URIs of places:
 *
 * - `sqlite:///` the database, `postgres:///public` a schema, `sqlite:///customers` a table or view,
 *   `sqlite:///customers/17` a row, `sqlite:///customers/17/photo` one value of it;
 * - `sqlite:///customers/~schema`, `~count`, `~rows`, and `~after/100`, the page after the row 100; `sqlite:///~schema`;
 * - `sqlite:///~queries/by-country?country=fr` a saved query.
 */
import { notFound } from '../../core/errors.ts';
import { parseTreeUri, splitUri, treeUri } from '../../core/uri.ts';
import type { ShownCatalogue } from './catalogues.ts';
import type { Column, Dialect, Identity, Table, TableName } from './dialect.ts';
import { decodeKey, decodeName, encodeName, type Key } from './keys.ts';

export const SCHEMA = '~schema';
export const ROWS = '~rows';
export const AFTER = '~after';
export const COUNT = '~count';
export const QUERIES = '~queries';

/** A table whose rows have URIs. */
export type Keyed = Table & { readonly identity: Identity };

export type Place =
  | { readonly kind: 'database' }
  | { readonly kind: 'schema'; readonly schema: string }
  | { readonly kind: 'table'; readonly table: Table }
  /** A description of the database, or of one schema. */
  | { readonly kind: 'overview'; readonly schema: string | undefined }
  | { readonly kind: 'description'; readonly table: Table }
  | { readonly kind: 'count'; readonly table: Table }
  /** A page of rows: the first, or the one after a row. That row may have been deleted since. */
  | { readonly kind: 'rows'; readonly table: Table; readonly after: Key | undefined }
  | { readonly kind: 'row'; readonly table: Keyed; readonly key: Key }
  | { readonly kind: 'value'; readonly table: Keyed; readonly key: Key; readonly column: Column }
  | { readonly kind: 'queries' }
  | { readonly kind: 'query'; readonly name: string; readonly search: string | undefined };

export const isKeyed = (table: Table): table is Keyed => table.identity !== undefined;

/** Path segments of a table, before percent-encoding. */
export const tablePath = ({ schema, name }: TableName): readonly string[] =>
  schema === undefined ? [encodeName(name)] : [encodeName(schema), encodeName(name)];

export interface Places {
  /**
   * Finds the place that a URI names.
   * @throws ResourceError `not-found`; `invalid` for a text that cannot be a URI of this database
   */
  parse(uri: string, catalogue: ShownCatalogue): Place;
  /** Makes the URI of path segments that are not percent-encoded yet. */
  uriOf(path: readonly string[]): string;
}

const CONTAINERS: ReadonlySet<Place['kind']> = new Set(['database', 'schema', 'table', 'queries']);

/** @param queries names of the saved queries */
export function createPlaces({ scheme, hasSchemas }: Dialect, queries: ReadonlySet<string>): Places {
  function find(path: readonly string[], catalogue: ShownCatalogue, search: string | undefined): Place | undefined {
    const [first, second] = path;
    if (first === undefined) return { kind: 'database' };
    if (first === QUERIES && queries.size > 0) {
      if (second === undefined) return { kind: 'queries' };
      return path.length === 2 && queries.has(second) ? { kind: 'query', name: second, search } : undefined;
    }
    if (first === SCHEMA) return path.length === 1 ? { kind: 'overview', schema: undefined } : undefined;
    if (!hasSchemas) return inTable(catalogue, undefined, path);
    const schema = decodeName(first);
    if (schema === undefined || !catalogue.schemas.includes(schema)) return undefined;
    if (second === undefined) return { kind: 'schema', schema };
    if (second === SCHEMA) return path.length === 2 ? { kind: 'overview', schema } : undefined;
    return inTable(catalogue, schema, path.slice(1));
  }

  return {
    parse(uri, catalogue) {
      const { query } = splitUri(uri);
      // Only a saved query has a query string. It begins at the first `?`, which no path contains.
      const path = query === undefined ? uri : uri.slice(0, uri.indexOf('?'));
      const { segments, trailingSlash } = parseTreeUri(path, scheme);
      // `parseTreeUri` throws for a URI with a fragment.
      const place = uri.includes('#') ? parseTreeUri(uri, scheme) && undefined : find(segments, catalogue, query);
      if (place === undefined || (query !== undefined && place.kind !== 'query')) throw notFound(uri);
      if (trailingSlash && !CONTAINERS.has(place.kind)) throw notFound(uri);
      return place;
    },
    uriOf: (path) => treeUri(scheme, path),
  };
}

function inTable(catalogue: ShownCatalogue, schema: string | undefined, path: readonly string[]): Place | undefined {
  const [first = '', second, third, ...more] = path;
  const name = decodeName(first);
  const table = name === undefined ? undefined : catalogue.find(schema, name);
  if (table === undefined || more.length > 0) return undefined;
  if (second === undefined) return { kind: 'table', table };
  if (second === ROWS) return third === undefined ? { kind: 'rows', table, after: undefined } : undefined;
  if (second === AFTER) return pageAfter(table, third);
  if (second === SCHEMA || second === COUNT)
    return third === undefined ? { kind: second === SCHEMA ? 'description' : 'count', table } : undefined;
  if (!isKeyed(table)) return undefined;
  const key = decodeKey(second, table.identity);
  if (key === undefined) return undefined;
  if (third === undefined) return { kind: 'row', table, key };
  const column = decodeName(third);
  const found = table.columns.find(({ name }) => name === column);
  return found === undefined ? undefined : { kind: 'value', table, key, column: found };
}

/** Finds the page after a row. */
function pageAfter(table: Table, after: string | undefined): Place | undefined {
  const key = after === undefined ? undefined : table.identity && decodeKey(after, table.identity);
  return key === undefined ? undefined : { kind: 'rows', table, after: key };
}
