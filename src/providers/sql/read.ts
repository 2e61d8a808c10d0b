/** Reads places: single rows and pages of rows, descriptions, counts, single values and results of saved queries. */

import { bytesOf, type ResourceBody, textBytes } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { invalid, notFound, ResourceError } from '../../core/errors.ts';
import { bestFormat } from '../../core/formats/accept.ts';
import type { ReadOptions } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { ShownCatalogue } from './catalogues.ts';
import type { OpenDatabase } from './database.ts';
import { DESCRIPTION_FORMATS, describeAll, describeTable, displayName } from './descriptions.ts';
import type { Table, Value } from './dialect.ts';
import { jsonText } from './json.ts';
import { encodeKey, encodeName } from './keys.ts';
import { type Link, linksOf, relativeReference } from './links.ts';
import { AFTER, isKeyed, type Place, ROWS, tablePath } from './place.ts';
import { type Resources, ROW_FORMATS } from './resources.ts';
import type { Row } from './rows.ts';
import type { Saved } from './saved-queries.ts';
import { ROWS_LEFT_OUT, seenCount, seenPage } from './seen.ts';
import { type Rendered, renderRow, renderSheet, SHEET_FORMATS, type Sheet, type SheetRow } from './sheets.ts';

/** Reads one place. @throws ResourceError `not-found`, `too-large`, `invalid`, and the errors of the database */
export type ReadPlace = (
  place: Place,
  uri: string,
  catalogue: ShownCatalogue,
  want: ReadOptions,
  ctx: Context,
) => Promise<readonly ResourceBody[]>;

export function createRead(database: OpenDatabase, resources: Resources): ReadPlace {
  const { config, places, reader, saved } = database;

  /** Returns all formats if the caller names none; else the best of those that it accepts, or the first if it accepts none. */
  const wanted = (formats: readonly string[], { accept }: ReadOptions): readonly string[] =>
    accept === undefined ? formats : [formats[bestFormat(formats, accept) ?? 0] ?? ''];

  const budgetOf = (want: ReadOptions): number => Math.min(want.maxBytes, config.maxBytes);

  /**
   * Makes one body of each format. A further format that does not fit is left out.
   * @throws ResourceError `too-large` if the first one does not fit
   */
  function bodiesOf(resource: Resource, rendered: readonly Rendered[], want: ReadOptions): readonly ResourceBody[] {
    let left = want.maxBytes;
    const bodies: ResourceBody[] = [];
    for (const { mimeType, text } of rendered) {
      const content = textBytes(text);
      const size = content.kind === 'bytes' ? content.bytes.byteLength : 0;
      if (size > left && bodies.length > 0) continue;
      if (size > left)
        throw new ResourceError('too-large', 'The content is larger than may be read at once', { uri: resource.uri });
      left -= size;
      bodies.push({ resource: { ...resource, mimeType }, content });
    }
    return bodies;
  }

  /** @param shownAt the path of the resource that shows the page, unless it is the page itself */
  async function pageOf(
    place: Extract<Place, { kind: 'rows' }>,
    catalogue: ShownCatalogue,
    want: ReadOptions,
    formats: readonly string[],
    ctx: Context,
    shownAt?: readonly string[],
  ) {
    const { table, after } = place;
    const budget = budgetOf(want);
    const fetch = (from: typeof after) => reader.page(table, from, config.pageRows, { maxBytes: budget }, ctx);
    const { rows, more } = await seenPage(table, after, config.pageRows, fetch, places, ctx);
    const afterKey = after && table.identity ? encodeKey(after, table.identity) : undefined;
    const path = shownAt ?? [...tablePath(table), ...(afterKey === undefined ? [ROWS] : [AFTER, afterKey])];
    const sheetRow = rowWriter(table, catalogue, path);
    const note = ctx.may !== undefined && isKeyed(table) ? ROWS_LEFT_OUT : undefined;
    return renderSheet({ ...sheetOf(table), note }, rows.map(sheetRow), formats, budget, (shown) => {
      const segment = rows[shown - 1]?.segment;
      const isMore = more || shown < rows.length;
      return {
        more: isMore,
        next:
          isMore && segment !== undefined ? relativeReference(path, [...tablePath(table), AFTER, segment]) : undefined,
      };
    });
  }

  async function queryOf(query: Saved, uri: string, formats: readonly string[], want: ReadOptions, ctx: Context) {
    const budget = budgetOf(want);
    const result = await reader.query(query.statement(uri), query.query.maxRows ?? config.maxRows, budget, ctx);
    const { title = query.name } = query.query;
    const sheet: Sheet = {
      title,
      facts: [['query', JSON.stringify(query.name)]],
      columns: result.columns,
      keyed: false,
    };
    return renderSheet(
      sheet,
      result.rows.map((values) => ({ values })),
      formats,
      budget,
      (shown) => ({
        more: result.stoppedBy !== undefined || shown < result.rows.length,
        next: undefined,
      }),
    );
  }

  async function value(
    place: Extract<Place, { kind: 'value' }>,
    uri: string,
    want: ReadOptions,
    ctx: Context,
  ): Promise<readonly ResourceBody[]> {
    const { table, key, column } = place;
    const budget = budgetOf(want);
    const row = await reader.one(table, key, { columns: [column], maxBytes: budget, maxValueBytes: budget }, ctx);
    const [found = null] = row?.values ?? [];
    if (found === null) throw notFound(uri);
    const resource = await resources.of(place, uri, ctx);
    if (typeof found === 'object' && 'kind' in found && found.kind === 'left-out')
      throw new ResourceError('too-large', `The value has ${found.bytes} bytes, more than may be read at once`, {
        uri,
      });
    const { mimeType, bytes } = contentOf(found);
    return [{ resource: { ...resource, mimeType }, content: bytesOf(bytes) }];
  }

  /**
   * Reads direct children, each whole, as many as fit: the description and the first page of a table, the overview of a
   * database or schema, the saved queries that need no parameter.
   */
  async function children(
    place: Place,
    uri: string,
    catalogue: ShownCatalogue,
    want: ReadOptions,
    ctx: Context,
  ): Promise<readonly ResourceBody[]> {
    if (want.range !== undefined) throw invalid('A container has no bytes to take a window of; list it instead', uri);
    const bodies: ResourceBody[] = [];
    let left = budgetOf(want);
    for (const [child, childUri] of childPlaces(place)) {
      if (bodies.length >= want.maxChildren) break;
      const read = await readChild(
        child,
        childUri,
        catalogue,
        { ...want, maxBytes: left, accept: want.accept ?? ['*/*'] },
        ctx,
      );
      const size = read?.content.kind === 'bytes' ? read.content.bytes.byteLength : 0;
      if (read === undefined || size > left) continue;
      left -= size;
      bodies.push({ ...read, child: true });
    }
    return bodies;
  }

  function childPlaces(place: Place): readonly (readonly [Place, string])[] {
    switch (place.kind) {
      case 'database':
        return [[{ kind: 'overview', schema: undefined }, resources.overview(undefined).uri]];
      case 'schema':
        return [[{ kind: 'overview', schema: place.schema }, resources.overview(place.schema).uri]];
      case 'table': {
        const { table } = place;
        return [
          [{ kind: 'description', table }, resources.description(table).uri],
          [{ kind: 'rows', table, after: undefined }, resources.rows(table).uri],
        ];
      }
      default:
        return [...saved.values()]
          .filter(({ bare }) => bare)
          .map(({ name }) => [{ kind: 'query', name, search: undefined }, resources.query(name).uri]);
    }
  }

  /** Reads one entry of a container; undefined if it is too large, so that it is left out. */
  async function readChild(
    child: Place,
    uri: string,
    catalogue: ShownCatalogue,
    want: ReadOptions,
    ctx: Context,
  ): Promise<ResourceBody | undefined> {
    try {
      return (await read(child, uri, catalogue, want, ctx))[0];
    } catch (error) {
      if (error instanceof ResourceError && error.code === 'too-large') return undefined;
      throw error;
    }
  }

  const read: ReadPlace = async (place, uri, catalogue, options, ctx) => {
    // Windows are cut from the whole content later, so the content must be the same for every window.
    const want = options.range === undefined ? options : { ...options, maxBytes: config.maxBytes };
    switch (place.kind) {
      case 'table':
        // A caller that accepts a format of rows gets the first page of rows. Any other caller gets the children.
        if (want.accept === undefined || bestFormat(SHEET_FORMATS, want.accept) === undefined) break;
        return bodiesOf(
          resources.table(place.table),
          await pageOf(
            { kind: 'rows', table: place.table, after: undefined },
            catalogue,
            want,
            wanted(SHEET_FORMATS, want),
            ctx,
            tablePath(place.table),
          ),
          want,
        );
      case 'rows':
        return bodiesOf(
          resources.rows(place.table, place.after),
          await pageOf(place, catalogue, want, wanted(SHEET_FORMATS, want), ctx),
          want,
        );
      case 'query': {
        const query = saved.get(place.name);
        if (query === undefined) throw notFound(uri);
        return bodiesOf(
          resources.query(place.name, uri),
          await queryOf(query, uri, wanted(SHEET_FORMATS, want), want, ctx),
          want,
        );
      }
      case 'description':
        return bodiesOf(
          resources.description(place.table),
          describeTable(place.table, catalogue, wanted(DESCRIPTION_FORMATS, want)),
          want,
        );
      case 'overview':
        return bodiesOf(
          resources.overview(place.schema),
          describeAll(database.dialect, place.schema, catalogue, wanted(DESCRIPTION_FORMATS, want)),
          want,
        );
      case 'count': {
        const seen = await seenCount(place.table, reader, places, ctx);
        const counted = seen === undefined ? { rows: Number(await reader.count(place.table, ctx)) } : counts(seen);
        const text = jsonText({ ...nameOf(place.table), ...counted });
        return bodiesOf(resources.count(place.table), [{ mimeType: 'application/json', text }], want);
      }
      case 'row': {
        const { table, key } = place;
        const row = await reader.one(table, key, { maxBytes: budgetOf(want) }, ctx);
        if (row?.segment === undefined) throw notFound(uri);
        const label = resources.labelOf(table);
        const labelled = {
          ...row,
          segment: row.segment,
          values: label === undefined ? [] : [row.values[table.columns.indexOf(label)] ?? null],
        };
        const shown = rowWriter(table, catalogue, [...tablePath(table), row.segment])(row);
        const sheet = { ...sheetOf(table), title: `${displayName(table)} ${row.segment}` };
        return bodiesOf(resources.row(table, labelled), renderRow(sheet, shown, wanted(ROW_FORMATS, want)), want);
      }
      case 'value':
        return value(place, uri, want, ctx);
      default:
        break;
    }
    return children(place, uri, catalogue, want, ctx);
  };
  return read;
}

const counts = ({ rows, more }: { readonly rows: number; readonly more: boolean }) => ({
  rows,
  ...(more && { more }),
  note: ROWS_LEFT_OUT,
});

const nameOf = ({ schema, name }: Table) => ({ ...(schema !== undefined && { schema }), table: name });

const sheetOf = (table: Table): Sheet => ({
  title: displayName(table),
  facts: Object.entries(nameOf(table)).map(([name, text]) => [name, JSON.stringify(text)] as const),
  columns: table.columns.map(({ name }) => name),
  keyed: isKeyed(table),
});

/** Returns a function that prepares rows of a table for the resource at `path`: their references are relative to it. */
export function rowWriter(table: Table, catalogue: ShownCatalogue, path: readonly string[]): (row: Row) => SheetRow {
  const links = linksOf(table, catalogue);
  return ({ segment, values }) => {
    const rowPath = segment === undefined ? undefined : [...tablePath(table), segment];
    const references = links.flatMap((link): [Link, string][] => {
      const target = link.pathOf(values);
      return target === undefined ? [] : [[link, relativeReference(path, target)]];
    });
    return {
      values,
      ...(rowPath !== undefined && { uri: relativeReference(path, rowPath) }),
      links: references.map(([{ name }, uri]) => [name, uri] as const),
      leads: new Map(
        references.flatMap(([{ columns }, uri]) => (columns.length === 1 ? [[columns[0] ?? -1, uri] as const] : [])),
      ),
      valueUri: (place) =>
        rowPath && relativeReference(path, [...rowPath, encodeName(table.columns[place]?.name ?? '')]),
    };
  };
}

const encoder = new TextEncoder();

function contentOf(value: Exclude<Value, null>): { readonly mimeType: string; readonly bytes: Uint8Array } {
  if (value instanceof Uint8Array) return { mimeType: 'application/octet-stream', bytes: value };
  if (typeof value === 'object')
    return { mimeType: 'application/json', bytes: encoder.encode(value.kind === 'json' ? value.text : 'null') };
  return { mimeType: 'text/plain', bytes: encoder.encode(String(value)) };
}
