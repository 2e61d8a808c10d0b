/** The `search` tool: places in texts, each with a few lines around it, page by page while the search goes on (CB-7). */
import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { SearchMatch, SearchQuery } from '../../core/provider.ts';
import { MAX_PATTERN_LENGTH, searchProvider } from '../../core/search.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import { type CallToolResult, type ContentBlock, text } from '../../protocol/content.ts';
import { openCursor, scopeOf } from '../resources/options.ts';
import { createOpenSearches, type OpenSearch } from './open-searches.ts';
import { cursorArgument, nextCursorOutput, textArgument, uriArgument } from './schemas.ts';
import type { ResourceToolContext } from './setup.ts';
import { snippetOf } from './snippet.ts';

/** Matches of one page. */
const PAGE = 50;

/** Bytes that a block has beside its text. */
const BLOCK_BYTES = 200;

/** Bytes that are left on a page for one more match. */
const MIN_ROOM = 1_500;

const input = z.strictObject({
  pattern: textArgument(MAX_PATTERN_LENGTH).optional().describe('Regular expression (RE2), line by line'),
  literal: z.boolean().optional().describe('pattern is plain text'),
  glob: textArgument(MAX_PATTERN_LENGTH).optional().describe('Only such paths, as src/**/*.ts; alone, it finds names'),
  uri: uriArgument.optional().describe('Only in this resource, or below this directory'),
  context: z.number().int().min(0).max(10).optional().describe('Lines around each match. Default: 2'),
  cursor: cursorArgument.optional(),
});

const output = z.object({
  matches: z.array(z.object({ uri: z.string(), line: z.number().optional() })),
  nextCursor: nextCursorOutput,
});

export interface SearchToolOptions {
  readonly name: string;
  /** Bytes of text that a page may have. */
  readonly outputBytes: number;
}

/** The tool, and what ends its searches. */
export interface SearchTool {
  readonly tool: Tool;
  close(): Promise<void>;
}

export function searchTool(context: ResourceToolContext, { name, outputBytes }: SearchToolOptions): SearchTool {
  const searches = createOpenSearches();
  const { resources } = context;

  async function run(args: z.infer<typeof input>, invocation: Invocation): Promise<CallToolResult> {
    const query: SearchQuery = {
      pattern: args.pattern,
      literal: args.literal ?? false,
      glob: args.glob,
      uri: args.uri,
    };
    const scope = scopeOf(invocation, `${name} tool`, JSON.stringify(query));
    const [id, given] = openCursor(resources, args.cursor, scope)?.split(' ') ?? [];
    const search =
      id === undefined
        ? searches.start((ctx) => searchProvider(resources.provider, query, ctx), invocation)
        : searches.resume(id, invocation);
    // A search goes forward only: what a page before has given is not given again, nor passed over in silence.
    if (search !== undefined && given !== undefined && search.count !== Number(given) && !search.busy)
      throw invalid('This page was given already; go on with the cursor of the latest page, or search again');
    if (search === undefined) throw invalid('This search has ended; search again without the cursor');
    const page = await search.use(invocation.signal, () => collect(search, args.context ?? 2, invocation));
    const nextCursor = page.more ? resources.cursors.seal(`${search.id} ${search.count}`, scope) : undefined;
    if (!page.more) await searches.end(search.id);
    return {
      content: [text(summary(page.places.length, nextCursor, id !== undefined, name)), ...page.blocks],
      structuredContent: { matches: page.places, ...(nextCursor !== undefined && { nextCursor }) },
    };
  }

  /** Matches until the page is full: by count, or by what they take of a model's context. */
  async function collect(search: OpenSearch, lines: number, invocation: Invocation): Promise<Page> {
    const blocks: ContentBlock[] = [];
    const places: { uri: string; line?: number }[] = [];
    let bytes = 0;
    while (places.length < PAGE && (places.length === 0 || outputBytes - bytes >= MIN_ROOM)) {
      const match = await search.next();
      if (match === undefined) return { blocks, places, more: false };
      const block = await blockOf(match, lines, Math.min(4_096, outputBytes - bytes - BLOCK_BYTES), invocation);
      if (block === undefined) continue;
      blocks.push(block.content);
      bytes += block.bytes;
      places.push({ uri: match.uri, ...(match.place !== undefined && { line: match.place.line }) });
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
    try {
      if (match.place === undefined) {
        const resource = await resources.provider.metadata(match.uri, { ...ctx, purpose: 'list' });
        return { content: { type: 'resource_link', ...resource }, bytes: Buffer.byteLength(JSON.stringify(resource)) };
      }
      const resource = await snippetOf(resources.provider, match.uri, match.place, { lines, maxBytes }, ctx);
      return resource === undefined
        ? undefined
        : { content: { type: 'resource', resource }, bytes: Buffer.byteLength(resource.text) + BLOCK_BYTES };
    } catch (error) {
      // Gone since it was found, or not to be read without asking: then it is not shown either.
      if (error instanceof ResourceError && !error.retryable && error.code !== 'internal') return undefined;
      throw error;
    }
  }

  const tool = defineTool({
    name,
    title: 'Search',
    description:
      'Finds text in resources, or resources by name (glob alone). Each match has its URI, which read takes, and the lines around it.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    inputSchema: input,
    outputSchema: output,
    run,
  });
  return { tool, close: () => searches.close() };
}

interface Page {
  readonly blocks: readonly ContentBlock[];
  readonly places: readonly { readonly uri: string; readonly line?: number }[];
  readonly more: boolean;
}

interface Block {
  readonly content: ContentBlock;
  readonly bytes: number;
}

function summary(count: number, nextCursor: string | undefined, continued: boolean, name: string): string {
  if (count === 0) return continued ? 'No more matches; that is all.' : 'No match.';
  const found = `${count} ${count === 1 ? 'match' : 'matches'}`;
  return nextCursor === undefined
    ? `${found}; that is all.`
    : `${found} so far. For more, call ${name} with the same arguments and cursor ${JSON.stringify(nextCursor)}.`;
}
