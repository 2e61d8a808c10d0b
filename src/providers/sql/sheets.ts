/** Renders pages of rows as JSON, CSV and Markdown. A page ends before the row that exceeds the limit on bytes. */
import { ResourceError } from '../../core/errors.ts';
import { csvLine } from './csv.ts';
import type { Value } from './dialect.ts';
import { jsonObject, jsonValue, uniqueNames } from './json.ts';
import { escaped, link, markdownValue, tableHead, tableLine } from './markdown.ts';

export const JSON_TYPE = 'application/json';
export const CSV_TYPE = 'text/csv';
export const MARKDOWN_TYPE = 'text/markdown';

/** The formats of a page of rows; the first is the default. */
export const SHEET_FORMATS: readonly string[] = [JSON_TYPE, CSV_TYPE, MARKDOWN_TYPE];

export interface SheetRow {
  readonly values: readonly Value[];
  /** The URI of the row, relative to the page. */
  readonly uri?: string | undefined;
  /** For each foreign key, the URI of the row that it refers to. */
  readonly links?: readonly (readonly [name: string, uri: string])[] | undefined;
  /** The URIs that values link to in Markdown, by the index of the column. Only foreign keys of a single column are here. */
  readonly leads?: ReadonlyMap<number, string> | undefined;
  /** Returns the URI of a single value, by column. */
  readonly valueUri?: ((place: number) => string | undefined) | undefined;
}

export interface Sheet {
  readonly title: string;
  /** Fields that stand before the rows in JSON, such as `["table", "\"customers\""]`. */
  readonly facts: readonly (readonly [name: string, json: string])[];
  readonly columns: readonly string[];
  /** Whether its rows have URIs. */
  readonly keyed: boolean;
  /** A remark on the page, shown in JSON and Markdown. */
  readonly note?: string | undefined;
}

/** The rows that follow a page: whether there are any, and on which page. */
export interface Continuation {
  /** Whether there are more rows. */
  readonly more: boolean;
  /** The URI of the next page, relative to this one; undefined if the next page has no URI. */
  readonly next: string | undefined;
}

interface Writer {
  readonly begin: string;
  row(row: SheetRow): string;
  /** @param count the number of rows that are shown */
  end(continuation: Continuation, count: number): string;
}

export interface Rendered {
  readonly mimeType: string;
  readonly text: string;
}

/** Bytes that each format may need for the text after its rows. */
const MARGIN_BYTES = 256;

/**
 * Renders as many rows as fit, the same rows in every format.
 * @param budget the most bytes of all formats together
 * @param continuationOf returns what follows the page, given the number of rows that fit
 * @throws ResourceError `too-large` if not even one row fits
 */
export function renderSheet(
  sheet: Sheet,
  rows: readonly SheetRow[],
  formats: readonly string[],
  budget: number,
  continuationOf: (shown: number) => Continuation,
): readonly Rendered[] {
  const writers = formats.map((mimeType) => ({ mimeType, writer: writerOf(mimeType, sheet), parts: [] as string[] }));
  let left = budget - writers.reduce((sum, { writer }) => sum + Buffer.byteLength(writer.begin) + MARGIN_BYTES, 0);
  let shown = 0;
  for (const row of rows) {
    const texts = writers.map(({ writer }) => writer.row(row));
    left -= texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 2, 0);
    if (left < 0) break;
    for (const [index, text] of texts.entries()) writers[index]?.parts.push(text);
    shown++;
  }
  if (shown === 0 && rows.length > 0)
    throw new ResourceError(
      'too-large',
      `Not even one row fits into the limit of one read${adviceFor(sheet, formats)}`,
    );
  const continuation = continuationOf(shown);
  return writers.map(({ mimeType, writer, parts }) => ({
    mimeType,
    text:
      writer.begin + (mimeType === JSON_TYPE ? parts.join(',\n') : parts.join('')) + writer.end(continuation, shown),
  }));
}

/** Returns what to do if the first row is too large. A row without a URI can only be read as a part of its page. */
const adviceFor = ({ keyed }: Sheet, formats: readonly string[]): string =>
  keyed ? '; read the row by its URI' : formats.length > 1 ? '; ask for one format only' : '';

const writerOf = (mimeType: string, sheet: Sheet): Writer =>
  mimeType === CSV_TYPE ? csvWriter(sheet) : mimeType === MARKDOWN_TYPE ? markdownWriter(sheet) : jsonWriter(sheet);

function jsonWriter({ facts, columns, note }: Sheet): Writer {
  const names = uniqueNames(columns).map((name) => JSON.stringify(name));
  const fields = note === undefined ? facts : [...facts, ['note', JSON.stringify(note)] as const];
  const head = fields.map(([name, json]) => `  ${JSON.stringify(name)}: ${json},\n`).join('');
  return {
    begin: `{\n${head}  "rows": [\n`,
    row({ values, uri, links, valueUri }) {
      const row = values.map((value, place) => `${names[place]}: ${jsonValue(value, valueUri?.(place))}`).join(', ');
      const address = uri === undefined ? '' : `"uri": ${JSON.stringify(uri)}, `;
      const references = links === undefined || links.length === 0 ? '' : `, "links": ${flat(links)}`;
      return `    {${address}"row": {${row}}${references}}`;
    },
    end: ({ more, next }, count) =>
      `${count > 0 ? '\n' : ''}  ],\n  "more": ${more}${next === undefined ? '' : `,\n  "next": ${JSON.stringify(next)}`}\n}\n`,
  };
}

const flat = (entries: readonly (readonly [string, string])[]): string =>
  `{${entries.map(([name, text]) => `${JSON.stringify(name)}: ${JSON.stringify(text)}`).join(', ')}}`;

const csvWriter = ({ columns }: Sheet): Writer => ({
  begin: csvLine(uniqueNames(columns)),
  row: ({ values }) => csvLine(values),
  end: () => '',
});

function markdownWriter({ title, columns, keyed, note }: Sheet): Writer {
  return {
    begin: `# ${escaped(title)}\n\n${note === undefined ? '' : `${escaped(note)}\n\n`}${tableHead([...(keyed ? ['row'] : []), ...uniqueNames(columns)])}`,
    row({ values, uri, leads, valueUri }) {
      const cells = values.map((value, place) =>
        markdownValue(value, leads?.get(place) ?? linkOfHidden(value, valueUri?.(place))),
      );
      return tableLine([...(keyed ? [uri === undefined ? '' : link('row', uri)] : []), ...cells]);
    },
    end({ more, next }, count) {
      if (next !== undefined) return `\n${link('More rows', next)}\n`;
      if (more) return '\nThere are more rows.\n';
      return count === 0 ? '\nNo rows.\n' : '';
    },
  };
}

/** Returns the link of a value that the table cannot show whole, such as a large one; undefined for others. */
const linkOfHidden = (value: Value, uri: string | undefined): string | undefined =>
  value !== null && typeof value === 'object' ? uri : undefined;

/** Renders one row as a resource of its own, in JSON and Markdown. */
export function renderRow(sheet: Sheet, row: SheetRow, formats: readonly string[]): readonly Rendered[] {
  const names = uniqueNames(sheet.columns);
  return formats.map((mimeType) => ({ mimeType, text: mimeType === MARKDOWN_TYPE ? markdownRow() : jsonRow() }));

  function jsonRow(): string {
    const values = row.values.map(
      (value, place) => [names[place] ?? '', jsonValue(value, row.valueUri?.(place))] as const,
    );
    const links = (row.links ?? []).map(([name, uri]) => [name, JSON.stringify(uri)] as const);
    const entries = [
      ...sheet.facts,
      ['row', jsonObject(values, '  ')] as const,
      ['links', jsonObject(links, '  ')] as const,
    ];
    return `${jsonObject(entries, '')}\n`;
  }

  function markdownRow(): string {
    const lines = row.values.map((value, place) =>
      tableLine([
        escaped(names[place] ?? ''),
        markdownValue(
          value,
          row.leads?.get(place) ?? linkOfHidden(value, row.valueUri?.(place)),
          Number.POSITIVE_INFINITY,
        ),
      ]),
    );
    return `# ${escaped(sheet.title)}\n\n${tableHead(['column', 'value'])}${lines.join('')}`;
  }
}
