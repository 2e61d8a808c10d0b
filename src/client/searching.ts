/** Places that answer a question, by the `search` tool of a Vitrine: ranked where it has an index, else line by line. */
import { type Asking, askingOf, type CallOptions } from './asking.ts';
import type { ResourceClient } from './client.ts';
import { invalidAnswer, ResourceClientError } from './errors.ts';
import type { Data } from './link.ts';
import { newReport, oneByOne, pagesFor } from './paging.ts';

/** The most pages of one search. */
const MAX_PAGES = 10_000;

/** Arguments that no other tool has together. */
const ARGUMENTS = ['pattern', 'literal', 'glob', 'uri', 'context', 'cursor'];

export interface SearchOptions extends CallOptions {
  /** Default: `ranked` where the server has an index, else `literal`. */
  readonly mode?: 'ranked' | 'regex' | 'literal' | 'name' | undefined;
  /** Only this resource, or what is below it. */
  readonly uri?: string | undefined;
  /** Only paths that match this glob; one without a slash matches names at any depth. */
  readonly glob?: string | undefined;
  /** Lines before and after each match, 0 to 10. Default: 2. */
  readonly context?: number | undefined;
}

/** A place that was found. */
export interface FoundPlace {
  /** The resource. */
  readonly uri: string;
  /** A URI that reads the lines which are in `text`; that of the resource where it has no text. */
  readonly place: string;
  readonly line?: number | undefined;
  readonly heading?: string | undefined;
  readonly page?: number | undefined;
  readonly mimeType?: string | undefined;
  /** The lines, or the name of what has none. Another server wrote it: show it as text and nothing else. */
  readonly text: string;
}

export interface SearchReport {
  /** How it was searched; undefined before the first page. */
  readonly mode: SearchOptions['mode'];
  /** Whether the index was still being made, so that there may be more. */
  readonly building: boolean;
}

/** Places as they come: each page is asked for when its places are wanted. Can be gone through once. */
export interface Search extends AsyncIterable<FoundPlace> {
  readonly report: SearchReport;
}

/**
 * Searches the resources of a Vitrine, best places first where it has an index. The words may have "phrases", prefix*,
 * NEAR(a b, 5) and filters such as type:pdf, mount:docs and after:2025 (of a ranked search).
 * @throws ResourceClientError (when it is gone through) `unsupported` for a server without this search, or without an index
 *   where `mode` is `ranked`; `not-found`; `invalid` with what is wrong with the question
 */
export function searchResources(client: ResourceClient, words: string, options: SearchOptions = {}): Search {
  const report: { mode: SearchOptions['mode']; building: boolean } = { mode: undefined, building: false };
  const asking = askingOf(client);

  async function* pages(): AsyncGenerator<readonly FoundPlace[], void, undefined> {
    const { tool, hasIndex } = await toolOf(asking, options);
    const mode = options.mode ?? (hasIndex ? 'ranked' : 'literal');
    if (mode === 'ranked' && !hasIndex) throw new ResourceClientError('unsupported', 'The server has no index');
    report.mode = mode;
    const { uri, glob, context } = options;
    const given = { ...argumentsOf(mode, words, glob, hasIndex), ...(uri !== undefined && { uri }) };
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const args = { ...given, ...(context !== undefined && { context }), ...(cursor !== undefined && { cursor }) };
      const link = await asking.connection.get(options.signal);
      const result = await asking.request(link, 'tools/call', { name: tool, arguments: args }, options);
      const [said, ...blocks] = (Array.isArray(result.content) ? result.content : []) as readonly Data[];
      if (result.isError === true) throw refusalOf(String(said?.text ?? 'The search failed'), uri);
      const { matches, nextCursor, building } = (result.structuredContent ?? {}) as Data;
      report.building = building === true;
      yield Array.isArray(matches) ? matches.map((match: Data, at) => placeOf(match, blocks[at] ?? {})) : [];
      if (typeof nextCursor !== 'string') return;
      if (nextCursor === cursor) throw invalidAnswer('The server gave a cursor that it had given before');
      cursor = nextCursor;
    }
  }

  const places = oneByOne(pages());
  return { [Symbol.asyncIterator]: () => places, report };
}

/** A server without an index takes no `mode`. */
function argumentsOf(mode: SearchOptions['mode'], words: string, glob: string | undefined, hasIndex: boolean): Data {
  const paths = glob === undefined ? {} : { glob };
  if (hasIndex) return { pattern: words, mode, ...paths };
  if (mode === 'name') return { glob: glob ?? `*${words}*` };
  return { pattern: words, literal: mode === 'literal', ...paths };
}

/** The tool, whatever prefix it has. */
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
      const has = (argument: string): boolean => argument in (inputSchema?.properties ?? {});
      if (name.endsWith('search') && ARGUMENTS.every(has)) return { tool: name, hasIndex: has('mode') };
    }
  throw new ResourceClientError('unsupported', 'The server has no search');
}

interface Tool {
  readonly name: string;
  readonly inputSchema?: { readonly properties?: object };
}

const isTool = (entry: unknown): entry is Tool =>
  typeof entry === 'object' && entry !== null && typeof (entry as Data).name === 'string';

/** One block goes with each match: a resource with its lines, or a link. */
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

/** The tool says in words what went wrong. */
const refusalOf = (said: string, uri: string | undefined): ResourceClientError =>
  new ResourceClientError(/not found/i.test(said) ? 'not-found' : 'invalid', said, { uri });
