/**
 * The `search` tool: returns places in texts, each with a few lines around it, page by page while the search continues (CB-7).
 */
import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { MORE_MATCHES } from '../../core/first-matches.ts';
import { globOfNames } from '../../core/glob/names.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { MissingPart } from '../../core/notes.ts';
import type { SearchMatch, SearchQuery } from '../../core/provider.ts';
import { isAnswering, type RankedMatch, type RankedQuery, type RankedSearch } from '../../core/ranked.ts';
import { MAX_PATTERN_LENGTH, searchProvider } from '../../core/search.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import { type CallToolResult, type ContentBlock, text } from '../../protocol/content.ts';
import type { Resource, TextResourceContents } from '../../protocol/resources.ts';
import { openCursor, scopeOf } from '../resources/options.ts';
import { missingOutput, sayMissing } from './missing.ts';
import { createOpenSearches, type OpenSearch } from './open-searches.ts';
import { inOrder, isQuestion, showPassage } from './ranked.ts';
import { cursorArgument, nextCursorOutput, textArgument, uriArgument } from './schemas.ts';
import type { ResourceToolContext } from './setup.ts';
import { snippetOf } from './snippet.ts';

/** The most matches of one page. */
const PAGE = 50;

/** The most matches of one page of a ranked search, whose best places come first. */
const RANKED_PAGE = 10;

/** The bytes of a block without its text. */
const BLOCK_BYTES = 200;

/** A page needs at least this many free bytes for one more match. */
const MIN_ROOM = 1_500;

const BUILDING = 'The index is still being built: there may be more.';

const input = z.strictObject({
  pattern: textArgument(MAX_PATTERN_LENGTH).optional().describe('Regular expression (RE2), line by line'),
  literal: z.boolean().optional().describe('pattern is plain text'),
  glob: textArgument(MAX_PATTERN_LENGTH).optional().describe('Only such paths, as src/**/*.ts; alone, it finds names'),
  uri: uriArgument.optional().describe('Only in this resource, or below this directory'),
  context: z.number().int().min(0).max(10).optional().describe('Lines around each match. Default: 2'),
  cursor: cursorArgument.optional(),
});

/** The input where there is an index. */
const rankedInput = input.extend({
  pattern: textArgument(MAX_PATTERN_LENGTH)
    .optional()
    .describe('Words, "phrases", prefix*; or a regular expression (RE2), line by line'),
  mode: z
    .enum(['ranked', 'regex', 'literal', 'name'])
    .optional()
    .describe('ranked: best places first. Default: ranked for words, else regex'),
});

const output = z.object({
  matches: z.array(z.object({ uri: z.string(), line: z.number().optional() })),
  nextCursor: nextCursorOutput,
  missing: missingOutput,
});

const rankedOutput = output.extend({
  matches: z.array(
    z.object({
      uri: z.string(),
      line: z.number().optional(),
      heading: z.string().optional(),
      page: z.number().optional(),
      mimeType: z.string().optional(),
    }),
  ),
  building: z.boolean().optional(),
});

type Arguments = z.infer<typeof rankedInput>;
type Place = z.infer<typeof rankedOutput>['matches'][number];

export interface SearchToolOptions {
  readonly name: string;
  /** The most bytes of text on a page. */
  readonly outputBytes: number;
}

/** The tool, and a function that ends its searches. */
export interface SearchTool {
  readonly tool: Tool;
  close(): Promise<void>;
}

export function searchTool(context: ResourceToolContext, { name, outputBytes }: SearchToolOptions): SearchTool {
  const searches = createOpenSearches();
  const { resources } = context;

  /**
   * @throws ResourceError `invalid` for a mode that contradicts the other arguments, `unavailable` for `ranked` without an index
   */
  function begin(args: Arguments): {
    readonly key: object;
    readonly isRanked?: boolean;
    readonly start: (ctx: Context) => AsyncIterable<SearchMatch>;
  } {
    const { pattern, glob, uri } = args;
    const index = context.ranked?.();
    // Without a mode, lines are searched while the index is not ready.
    const mode = args.mode ?? (isAnswering(index) && isWords(args) ? 'ranked' : undefined);
    const ranked = mode === 'ranked' ? index : undefined;
    if (mode === 'ranked') {
      if (pattern === undefined) throw invalid('A ranked search needs words in pattern');
      if (ranked === undefined) throw new ResourceError('unavailable', 'There is no index yet; use another mode');
      return {
        isRanked: true,
        key: { ranked: pattern, glob, uri },
        start: (ctx) => findRanked(ranked, { text: pattern, glob, uri }, ctx),
      };
    }
    if (mode === 'name' && glob === undefined && pattern === undefined)
      throw invalid('A search for names needs a glob');
    const query: SearchQuery =
      mode === 'name'
        ? { pattern: undefined, literal: false, glob: glob ?? globOfNames(pattern ?? ''), uri }
        : { pattern, literal: mode === undefined ? (args.literal ?? false) : mode === 'literal', glob, uri };
    return { key: query, start: (ctx) => searchProvider(resources.provider, query, ctx) };
  }

  async function* findRanked(ranked: RankedSearch, query: RankedQuery, ctx: Context): AsyncGenerator<RankedMatch> {
    // Searching below a folder requires that the caller may see the folder.
    if (query.uri !== undefined) await resources.provider.metadata(query.uri, ctx);
    const fitOf = async (match: RankedMatch): Promise<number> =>
      (await unlessGone(() => showPassage(resources, match, { lines: 0, maxBytes: 4_096 }, ctx)))?.fit ?? 0;
    yield* inOrder(ranked, query, fitOf, ctx);
  }

  async function run(args: Arguments, invocation: Invocation): Promise<CallToolResult> {
    const { key, start, isRanked } = begin(args);
    const scope = scopeOf(invocation, `${name} tool`, JSON.stringify(key));
    const [id, given = '0', looked = '0'] = openCursor(resources, args.cursor, scope)?.split(' ') ?? [];
    const known = id === undefined ? undefined : searches.resume(id, invocation);
    // A search only moves forward, so a page that was already given is refused.
    if (known !== undefined && known.count !== Number(given) && !known.busy)
      throw invalid('This page was given already; continue with the cursor of the latest page, or search again');
    // A search that has ended, or that began in another replica, is repeated up to its last page.
    const search = known ?? searches.start(start, invocation);
    const page = await search.use(invocation.signal, async () => {
      if (known === undefined) await passOver(search, Number(given), Number(looked), invocation);
      return collect(search, isRanked ? RANKED_PAGE : PAGE, args.context ?? 2, invocation);
    });
    const position = `${search.id} ${search.count} ${search.looked}`;
    const nextCursor = page.more ? resources.cursors.seal(position, scope) : undefined;
    if (!page.more) await searches.end(search.id);
    const building = isRanked && context.ranked?.()?.state().state === 'building';
    const { missing } = search;
    const said = summary(page.places.length, { nextCursor, continued: id !== undefined, missing, name });
    return {
      content: [text(building ? `${said} ${BUILDING}` : said), ...page.blocks],
      structuredContent: {
        matches: page.places,
        ...(nextCursor !== undefined && { nextCursor }),
        ...(building && { building }),
        ...(missing.length > 0 && { missing }),
      },
    };
  }

  /** Skips the matches that the pages before have examined. */
  async function passOver(search: OpenSearch, given: number, looked: number, invocation: Invocation): Promise<void> {
    while (search.looked < looked) {
      const match = await search.next();
      if (match === undefined) break;
      if (match.more && (await blockOf(match, 0, MIN_ROOM, invocation)) !== undefined) noteMore(search, match);
    }
    search.count = given;
  }

  /** Collects matches until the page is full, by number or by bytes of the model's context. */
  async function collect(search: OpenSearch, most: number, lines: number, invocation: Invocation): Promise<Page> {
    const blocks: ContentBlock[] = [];
    const places: Place[] = [];
    let bytes = 0;
    while (places.length < most && (places.length === 0 || outputBytes - bytes >= MIN_ROOM)) {
      const match = await search.next();
      if (match === undefined) return { blocks, places, more: false };
      const block = await blockOf(match, lines, Math.min(4_096, outputBytes - bytes - BLOCK_BYTES), invocation);
      if (block === undefined) continue;
      noteMore(search, match);
      blocks.push(block.content);
      bytes += block.bytes;
      places.push(block.place);
      search.count++;
      invocation.progress(search.count, undefined, `${search.count} matches`);
    }
    return { blocks, places, more: true };
  }

  async function blockOf(
    match: SearchMatch,
    lines: number,
    maxBytes: number,
    ctx: Context,
  ): Promise<Block | undefined> {
    return unlessGone(async () => {
      if (match.passage !== undefined) return passageBlock({ ...match, passage: match.passage }, lines, maxBytes, ctx);
      if (match.place === undefined) {
        const resource = await resources.provider.metadata(match.uri, { ...ctx, purpose: 'list' });
        return { ...linked(resource), place: { uri: match.uri } };
      }
      const resource = await snippetOf(resources.provider, match.uri, match.place, { lines, maxBytes }, ctx);
      return resource && { ...embedded(resource), place: { uri: match.uri, line: match.place.line } };
    });
  }

  async function passageBlock(
    match: RankedMatch,
    lines: number,
    maxBytes: number,
    ctx: Context,
  ): Promise<Block | undefined> {
    const shown = await showPassage(resources, match, { lines, maxBytes }, ctx);
    if (shown === undefined) return undefined;
    const { item, line } = shown;
    const { heading, page } = match.passage;
    const place: Place = {
      uri: match.uri,
      ...(line !== undefined && { line }),
      ...(heading !== undefined && { heading }),
      ...(page !== undefined && { page }),
      ...(item.mimeType !== undefined && { mimeType: item.mimeType }),
    };
    return 'text' in item ? { ...embedded(item), place } : { ...linked(item), place };
  }

  const tool = defineTool({
    name,
    title: 'Search',
    description:
      'Finds text in resources, or resources by name (glob alone). Each match has its URI, which read takes, and the lines around it.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    inputSchema: context.ranked === undefined ? input : rankedInput,
    outputSchema: context.ranked === undefined ? output : rankedOutput,
    run,
  });
  return { tool, close: () => searches.close() };
}

interface Page {
  readonly blocks: readonly ContentBlock[];
  readonly places: readonly Place[];
  readonly more: boolean;
}

interface Block {
  readonly content: ContentBlock;
  readonly bytes: number;
  readonly place: Place;
}

const embedded = (resource: TextResourceContents): Pick<Block, 'content' | 'bytes'> => ({
  content: { type: 'resource', resource },
  bytes: Buffer.byteLength(resource.text) + BLOCK_BYTES,
});

const linked = (resource: Resource): Pick<Block, 'content' | 'bytes'> => ({
  content: { type: 'resource_link', ...resource },
  bytes: Buffer.byteLength(JSON.stringify(resource)),
});

/** Notes that the resource of a match that the caller is shown has more matches than are given. */
function noteMore(search: OpenSearch, { uri, more }: SearchMatch): void {
  if (more) search.leaveOut({ entry: uri, reason: MORE_MATCHES });
}

/** Whether the pattern reads like words, without an explicit mode. */
const isWords = ({ pattern, literal }: Arguments): boolean =>
  pattern !== undefined && literal === undefined && isQuestion(pattern);

/** Returns undefined for a match that has gone since, or that must be confirmed before reading: it is not shown. */
async function unlessGone<T>(show: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await show();
  } catch (error) {
    if (error instanceof ResourceError && !error.retryable && error.code !== 'internal') return undefined;
    throw error;
  }
}

interface Said {
  readonly nextCursor: string | undefined;
  /** Whether pages came before. */
  readonly continued: boolean;
  readonly missing: readonly MissingPart[];
  /** The name of the tool. */
  readonly name: string;
}

function summary(count: number, { nextCursor, continued, missing, name }: Said): string {
  const lost = sayMissing(missing);
  const found =
    count === 0 ? (continued ? 'No more matches' : 'No match') : `${count} ${count === 1 ? 'match' : 'matches'}`;
  if (nextCursor !== undefined) {
    const said = `${found} so far.${lost === undefined ? '' : ` ${lost}`}`;
    return `${said} For more, call ${name} with the same arguments and cursor ${JSON.stringify(nextCursor)}.`;
  }
  if (lost !== undefined) return `${found}. ${lost}`;
  return count === 0 && !continued ? 'No match.' : `${found}; that is all.`;
}
