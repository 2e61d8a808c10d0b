/** Reads: rows and pages of them in several formats, descriptions, counts, single values, results of saved queries. */

import { bytesOf, type ResourceBody, textBytes } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { invalid, notFound, ResourceError } from '../../core/errors.ts';
import { bestFormat } from '../../core/formats/accept.ts';
import type { ReadOptions } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Known } from './catalogues.ts';
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

/** Reads one place. @throws ResourceError `not-found`, `too-large`, and those of the database */
export type ReadPlace = (
  place: Place,
  uri: string,
  known: Known,
  want: ReadOptions,
  ctx: Context,
) => Promise<readonly ResourceBody[]>;

export function createRead(database: OpenDatabase, resources: Resources): ReadPlace {
  const { config, places, reader, saved } = database;

  /** The one format that suits best, or all. What nobody offers is answered with the first. */
  const wanted = (formats: readonly string[], { accept }: ReadOptions): readonly string[] =>
    accept === undefined ? formats : [formats[bestFormat(formats, accept) ?? 0] ?? ''];

  const budgetOf = (want: ReadOptions): number => Math.min(want.maxBytes, config.maxBytes);

  /** As alternatives of one content: the first always, others while they fit. */
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

  async function pageOf(
    place: Extract<Place, { kind: 'rows' }>,
    known: Known,
    want: ReadOptions,
    formats: readonly string[],
    ctx: Context,
    here?: readonly string[],
  ) {
    const { table, after } = place;
    const budget = budgetOf(want);
    const fetch = (from: typeof after) => reader.page(table, from, config.pageRows, { maxBytes: budget }, ctx);
    const { rows, more } = await seenPage(table, after, config.pageRows, fetch, places, ctx);
    const afterKey = after && table.identity ? encodeKey(after, table.identity) : undefined;
    const path = here ?? [...tablePath(table), ...(afterKey === undefined ? [ROWS] : [AFTER, afterKey])];
    const sheetRow = rowWriter(table, known, path);
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
    const most = budgetOf(want);
    const asked = { columns: [column], maxBytes: most, maxValueBytes: most };
    const row = await reader.one(table, key, asked, ctx);
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

  /** Direct children, whole, as many as fit: of a table what it is and its first page, of others what is in them. */
  async function children(
    place: Place,
    uri: string,
    known: Known,
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
        known,
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

  /** Reads one entry of a container; undefined for one that is too large: it is left out. */
  async function readChild(
    child: Place,
    uri: string,
    known: Known,
    want: ReadOptions,
    ctx: Context,
  ): Promise<ResourceBody | undefined> {
    try {
      return (await read(child, uri, known, want, ctx))[0];
    } catch (error) {
      if (error instanceof ResourceError && error.code === 'too-large') return undefined;
      throw error;
    }
  }

  const read: ReadPlace = async (place, uri, known, asked, ctx) => {
    // Of what is made here there is the whole or nothing: where somebody wants a part, it is cut from the same whole each time.
    const want = asked.range === undefined ? asked : { ...asked, maxBytes: config.maxBytes };
    switch (place.kind) {
      case 'table':
        // Somebody who says in which format wants the rows, and not what is below.
        if (want.accept === undefined || bestFormat(SHEET_FORMATS, want.accept) === undefined) break;
        return bodiesOf(
          resources.table(place.table),
          await pageOf(
            { kind: 'rows', table: place.table, after: undefined },
            known,
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
          await pageOf(place, known, want, wanted(SHEET_FORMATS, want), ctx),
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
          describeTable(place.table, known, wanted(DESCRIPTION_FORMATS, want)),
          want,
        );
      case 'overview':
        return bodiesOf(
          resources.overview(place.schema),
          describeAll(database.dialect, place.schema, known, wanted(DESCRIPTION_FORMATS, want)),
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
        const shown = rowWriter(table, known, [...tablePath(table), row.segment])(row);
        const sheet = { ...sheetOf(table), title: `${displayName(table)} ${row.segment}` };
        return bodiesOf(resources.row(table, labelled), renderRow(sheet, shown, wanted(ROW_FORMATS, want)), want);
      }
      case 'value':
        return value(place, uri, want, ctx);
      default:
        break;
    }
    return children(place, uri, known, want, ctx);
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

/** Rows of a table as a page, or a row, at this path shows them: with references that are relative to it. */
export function rowWriter(table: Table, known: Known, path: readonly string[]): (row: Row) => SheetRow {
  const links = linksOf(table, known);
  return ({ segment, values }) => {
    const own = segment === undefined ? undefined : [...tablePath(table), segment];
    const led = links.flatMap((link): [Link, string][] => {
      const target = link.pathOf(values);
      return target === undefined ? [] : [[link, relativeReference(path, target)]];
    });
    return {
      values,
      ...(own !== undefined && { uri: relativeReference(path, own) }),
      links: led.map(([{ name }, uri]) => [name, uri] as const),
      leads: new Map(
        led.flatMap(([{ columns }, uri]) => (columns.length === 1 ? [[columns[0] ?? -1, uri] as const] : [])),
      ),
      valueUri: (place) =>
        own === undefined ? undefined : relativeReference(path, [...own, encodeName(table.columns[place]?.name ?? '')]),
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
