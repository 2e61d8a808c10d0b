/** Lists the templates of rows and of saved queries, and completes their variables. */
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { CompletionRequest, CompletionValues, Page, TemplatePage } from '../../core/provider.ts';
import { encodeSegment } from '../../core/uri.ts';
import { parseUriTemplate, UriTemplateError } from '../../core/uri-template.ts';
import type { ResourceTemplate } from '../../protocol/resources.ts';
import type { ShownCatalogue } from './catalogues.ts';
import type { OpenDatabase } from './database.ts';
import { displayName } from './descriptions.ts';
import type { Parameter, ValueKind } from './dialect.ts';
import { decodeValue, encodeValue, unescaped } from './keys.ts';
import { isKeyed, type Keyed, tablePath } from './place.ts';
import type { Saved } from './saved-queries.ts';
import { seenValues } from './seen.ts';
import type { Range } from './selects.ts';
import { JSON_TYPE } from './sheets.ts';

/** The most values that are read for one completion if the database cannot search by prefix. */
const MAX_LOOKED_AT = 1_000;

/** The most digits of a number that a completion suggests. */
const MAX_DIGITS = 18;

/** Writes the name of a column as a variable of a template, as RFC 6570 requires: `order%20id`. */
const variableOf = (name: string): string =>
  [...Buffer.from(name, 'utf8')]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /\w/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');

export interface Templates {
  list(catalogue: ShownCatalogue, page: Page): TemplatePage;
  /** @throws ResourceError `invalid` for an unknown template or variable */
  complete(catalogue: ShownCatalogue, request: CompletionRequest, ctx: Context): Promise<CompletionValues>;
}

export function createTemplates({
  dialect,
  saved,
  places,
  reader,
  config,
  limitsOf,
  connection,
}: OpenDatabase): Templates {
  const rowTemplate = (table: Keyed): string =>
    `${places.uriOf([])}${tablePath(table).map(encodeSegment).join('/')}/{${table.identity.columns.map(({ name }) => variableOf(name)).join(',')}}`;

  /** Returns all templates. A table whose name cannot be written in a template has none. */
  function entries(catalogue: ShownCatalogue): readonly { template: ResourceTemplate; table?: Keyed; query?: Saved }[] {
    const queries = [...saved.values()].flatMap((query) => {
      const { template, name } = query;
      if (template === undefined) return [];
      const { title, description } = query.query;
      return [
        {
          query,
          template: {
            uriTemplate: template.text,
            name,
            ...(title && { title }),
            ...(description && { description }),
            mimeType: JSON_TYPE,
          },
        },
      ];
    });
    const rows = catalogue.tables.filter(isKeyed).flatMap((table) => {
      const uriTemplate = rowTemplate(table);
      if (!isTemplate(uriTemplate)) return [];
      const name = displayName(table);
      return [{ table, template: { uriTemplate, name, title: `A row of ${name}`, mimeType: JSON_TYPE } }];
    });
    return [...queries, ...rows];
  }

  async function completeKey(table: Keyed, at: number, { value, known, limit }: CompletionRequest, ctx: Context) {
    const { columns } = table.identity;
    const column = columns[at];
    if (column === undefined) return nothing;
    const before: Parameter[] = [];
    for (const { name, kind } of columns.slice(0, at)) {
      const text = known[variableOf(name)];
      const decoded = text === undefined ? undefined : decodeValue(text, kind);
      if (decoded === undefined) return nothing;
      before.push(decoded);
    }
    const ranges = rangesOf(value, column.kind);
    if (ranges === undefined) return nothing;
    const most = value === '' || ranges.length > 0 ? limit + 1 : MAX_LOOKED_AT;
    const found = await reader.keys(table, before, ranges, most, ctx);
    const several = columns.length > 1;
    const seen = await seenValues(table, before, found, { reader, places }, ctx);
    const texts = [...new Set(seen.map((key) => encodeValue(key, column.kind, several)))];
    return valuesOf(texts, value, limit, found.length >= most);
  }

  async function completeQuery(query: Saved, name: string, { value, limit }: CompletionRequest, ctx: Context) {
    const parameter = query.parameters.find(([parameterName]) => parameterName === name)?.[1];
    if (parameter?.values !== undefined) return valuesOf(parameter.values, value, limit, false);
    if (parameter?.type === 'boolean') return valuesOf(['true', 'false'], value, limit, false);
    if (parameter?.suggest === undefined) return nothing;
    const limits = limitsOf(ctx, { maxRows: config.maxRows });
    const { rows, stoppedBy } = await connection.run({ sql: parameter.suggest, parameters: [] }, limits);
    const texts = rows.flatMap(([first]) => (first === null || typeof first === 'object' ? [] : [String(first)]));
    return valuesOf([...new Set(texts)], value, limit, stoppedBy !== undefined);
  }

  return {
    list(catalogue, { cursor, limit }) {
      const all = entries(catalogue);
      const at = cursor === undefined ? 0 : all.findIndex(({ template }) => template.uriTemplate === cursor) + 1;
      if (cursor !== undefined && at === 0) throw invalid('The cursor names a template that does not exist');
      const shown = all.slice(at, at + limit);
      return {
        resourceTemplates: shown.map(({ template }) => template),
        nextCursor: at + shown.length < all.length ? shown.at(-1)?.template.uriTemplate : undefined,
      };
    },

    async complete(catalogue, request, ctx) {
      const entry = entries(catalogue).find(({ template }) => template.uriTemplate === request.uriTemplate);
      if (entry === undefined) throw invalid('There is no such template', request.uriTemplate);
      const { table, query } = entry;
      const at = table?.identity.columns.findIndex(({ name }) => variableOf(name) === request.variable) ?? -1;
      if (at === -1 && !query?.parameters.some(([name]) => name === request.variable))
        throw invalid(`The template has no variable named ${JSON.stringify(request.variable)}`, request.uriTemplate);
      try {
        if (table !== undefined) return await completeKey(table, at, request, ctx);
        return query === undefined ? nothing : await completeQuery(query, request.variable, request, ctx);
      } catch (error) {
        // If the database takes too long, there are no suggestions.
        if (error instanceof ResourceError && error.code === 'timeout') return { ...nothing, hasMore: true };
        throw error;
      }
    },
  };

  function isTemplate(text: string): boolean {
    try {
      return parseUriTemplate(text).variables.length > 0 && dialect.scheme !== '';
    } catch (error) {
      if (error instanceof UriTemplateError) return false;
      throw error;
    }
  }
}

const nothing: CompletionValues = { values: [], hasMore: false, total: 0 };

function valuesOf(texts: readonly string[], typed: string, limit: number, more: boolean): CompletionValues {
  const all = texts.filter((text) => text.startsWith(typed));
  const hasMore = all.length > limit || (more && texts.at(-1)?.startsWith(typed) === true);
  return { values: all.slice(0, limit), hasMore, ...(!hasMore && !more && { total: all.length }) };
}

/** Returns ranges that hold all values that begin with the typed text; none if any value may, undefined if no value does. */
function rangesOf(typed: string, kind: ValueKind): readonly Range[] | undefined {
  if (typed === '') return [];
  if (kind === 'integer' && typed.startsWith('~')) return [];
  if (kind === 'integer') return integersFrom(typed);
  if (kind === 'real' || kind === 'bytes' || typed.startsWith('~')) return [];
  // The typed text may end inside an escape.
  const prefix = unescaped(typed.replace(/~[0-9A-F]?$/, ''));
  return prefix === undefined ? undefined : prefix === '' ? [] : [{ from: prefix }];
}

function integersFrom(typed: string): readonly Range[] | undefined {
  if (typed === '-') return [{ from: -(10n ** 18n), to: -1n }];
  if (!/^-?(?:0|[1-9]\d{0,17})$/.test(typed)) return undefined;
  const number = BigInt(typed);
  if (number === 0n) return [{ from: 0n, to: 0n }];
  const ranges: Range[] = [];
  for (let digits = 0, low = number, width = 0n; digits + typed.length <= MAX_DIGITS; digits++) {
    ranges.push(number > 0n ? { from: low, to: low + width } : { from: low - width, to: low });
    low *= 10n;
    width = width * 10n + 9n;
  }
  return ranges;
}
