/** Searches with the `search` tool of a Vitrine server: ranked if the server has an index, else line by line. */
import { pagesIn } from '../connection/paging.ts';
import { globOfNames } from '../core/glob/names.ts';
import { filtersIn } from '../core/text/question-tokens.ts';
import { isData } from '../protocol/data.ts';
import { type Asking, askingOf, type CallOptions } from './asking.ts';
import type { ResourceClient } from './client.ts';
import { invalidAnswer, ResourceClientError } from './errors.ts';
import type { Data } from './link.ts';
import { newReport, oneByOne, pagesFor } from './paging.ts';

/** The most pages of one search. */
const MAX_PAGES = 10_000;

/** A tool that has all of these arguments is the search tool. */
const ARGUMENTS = ['pattern', 'literal', 'glob', 'uri', 'context', 'cursor'];

export interface SearchOptions extends CallOptions {
  /**
   * Default: `ranked` if the server has an index, else `literal`. In `name`, words that have `*`, `?`, `[` or `{` are a glob, as
   * `*.txt`; others are a part of the name.
   */
  readonly mode?: 'ranked' | 'regex' | 'literal' | 'name' | undefined;
  /** Searches only this resource and all below it. */
  readonly uri?: string | undefined;
  /** Searches only paths that match this glob. A glob without a slash matches names at any depth. */
  readonly glob?: string | undefined;
  /** Lines before and after each match, 0 to 10. Default: 2. */
  readonly context?: number | undefined;
}

/** A place that was found. */
export interface FoundPlace {
  /** The resource. */
  readonly uri: string;
  /** A URI for the lines in `text`; the URI of the resource if no lines were found. */
  readonly place: string;
  readonly line?: number | undefined;
  readonly heading?: string | undefined;
  readonly page?: number | undefined;
  readonly mimeType?: string | undefined;
  /** The lines that were found, or else the title or name of the resource. The server wrote it: show it only as text. */
  readonly text: string;
}

export interface SearchReport {
  /** The mode that was used; undefined before the first page. */
  readonly mode: SearchOptions['mode'];
  /** Whether the index was still being built, so that there may be more places. */
  readonly building: boolean;
  /**
   * The parts that the server reports as not searched so far, or only in part, as `{mount, entry, reason}`. Without a `mode` and
   * an index, also the filters among the words, as `{reason}`: they are searched as they are written.
   */
  readonly missing: readonly unknown[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Gives the places one by one, and asks for each page when it is needed. Can be iterated over once. */
export interface Search extends AsyncIterable<FoundPlace> {
  readonly report: SearchReport;
}

/**
 * Searches the resources of a Vitrine server, best places first if it has an index. In a ranked search, `words` may have
 * "phrases", prefix*, NEAR(a b, 5) and filters such as type:pdf, mount:docs and after:2025.
 * @throws ResourceClientError (while iterating) `unsupported` for a server without this search, or without an index if `mode`
 *   is `ranked`; `not-found`; `invalid` with the server's explanation; `invalid-answer` for a cursor that the server repeats
 */
export function searchResources(client: ResourceClient, words: string, options: SearchOptions = {}): Search {
  const report: Writable<SearchReport> = { mode: undefined, building: false, missing: [] };
  const asking = askingOf(client);

  async function* pages(): AsyncGenerator<readonly FoundPlace[], void, undefined> {
    const { tool, hasIndex } = await toolOf(asking, options);
    const mode = options.mode ?? (hasIndex ? 'ranked' : 'literal');
    if (mode === 'ranked' && !hasIndex) throw new ResourceClientError('unsupported', 'The server has no index');
    report.mode = mode;
    const unused = options.mode === undefined && !hasIndex ? unusedFilters(words) : [];
    report.missing = unused;
    const { uri, glob, context } = options;
    const query = { ...argumentsOf(mode, words, glob, hasIndex), ...(uri !== undefined && { uri }) };
    async function ask(page: Data): Promise<Data> {
      const args = { ...query, ...(context !== undefined && { context }), ...page };
      const link = await asking.connection.get(options.signal);
      const result = await asking.request(link, 'tools/call', { name: tool, arguments: args }, options);
      const [summary, ...blocks] = (Array.isArray(result.content) ? result.content : []) as readonly Data[];
      if (result.isError === true) throw refusalOf(String(summary?.text ?? 'The search failed'), uri);
      const { matches, nextCursor, building, missing } = (result.structuredContent ?? {}) as Data;
      report.building = building === true;
      if (Array.isArray(missing)) report.missing = [...unused, ...missing];
      const found: readonly unknown[] = Array.isArray(matches) ? matches : [];
      const places = found.flatMap((match, at) => (isData(match) ? [placeOf(match, blocks[at] ?? {})] : []));
      return { places, nextCursor };
    }
    const list = {
      ask,
      field: 'places',
      entryIn: (entry: unknown) => entry as FoundPlace,
      idOf: ({ place, line }: FoundPlace) => `${place} ${line}`,
      maxPages: MAX_PAGES,
      refusal: (what: string) => invalidAnswer(what, uri),
    };
    for await (const { entries, stopped } of pagesIn(list)) {
      yield entries;
      if (stopped === 'repeated-cursor') throw list.refusal('The server gave a cursor that it had given before');
      if (stopped === 'no-progress') throw list.refusal('The server gave too many pages without a new match');
    }
  }

  const places = oneByOne(pages());
  return { [Symbol.asyncIterator]: () => places, report };
}

/** Returns an entry of `missing` if there are filters in the words, for a server that has no index to apply them. */
function unusedFilters(words: string): readonly { readonly reason: string }[] {
  const filters = filtersIn(words.trim());
  if (filters.length === 0) return [];
  return [{ reason: `The server has no index, so filters are searched as they are written: ${filters.join(' ')}` }];
}

/** A server without an index takes no `mode`. */
function argumentsOf(mode: SearchOptions['mode'], words: string, glob: string | undefined, hasIndex: boolean): Data {
  const paths = glob === undefined ? {} : { glob };
  if (hasIndex) return { pattern: words, mode, ...paths };
  if (mode === 'name') return { glob: glob ?? globOfNames(words) };
  return { pattern: words, literal: mode === 'literal', ...paths };
}

/** Finds the search tool, whatever prefix its name has. */
async function toolOf(
  asking: Asking,
  options: CallOptions,
): Promise<{ readonly tool: string; readonly hasIndex: boolean }> {
  const list = {
    field: 'tools',
    entryIn: (entry: unknown) => (isTool(entry) ? entry : undefined),
    idOf: ({ name }: Tool) => name,
  };
  const fresh = { ...options, fresh: true };
  for await (const { entries } of pagesFor(asking, { method: 'tools/list', uri: undefined }, list, fresh, newReport()))
    for (const { name, inputSchema } of entries) {
      const properties = isData(inputSchema) ? inputSchema.properties : undefined;
      const has = (argument: string): boolean => isData(properties) && argument in properties;
      if (name.endsWith('search') && ARGUMENTS.every(has)) return { tool: name, hasIndex: has('mode') };
    }
  throw new ResourceClientError('unsupported', 'The server has no search');
}

interface Tool {
  readonly name: string;
  readonly inputSchema?: unknown;
}

const isTool = (entry: unknown): entry is Tool => isData(entry) && typeof entry.name === 'string';

/** Each match has one content block: a resource with the lines, or a link. */
function placeOf({ uri, line, heading, page, mimeType }: Data, { resource, title, name }: Data): FoundPlace {
  const { uri: lines, text } = (resource ?? {}) as Data;
  return {
    uri: String(uri),
    place: String(lines ?? uri),
    ...(typeof line === 'number' && { line }),
    ...(typeof heading === 'string' && { heading }),
    ...(typeof page === 'number' && { page }),
    ...(typeof mimeType === 'string' && { mimeType }),
    text: String(text ?? title ?? name ?? ''),
  };
}

/** The tool reports an error only in words, so the code is derived from them. */
const refusalOf = (message: string, uri: string | undefined): ResourceClientError =>
  new ResourceClientError(/not found/i.test(message) ? 'not-found' : 'invalid', message, { uri });
