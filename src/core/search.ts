/**
 * Search in any provider: by its own means where it has them, else by reading text after text. Patterns are matched by
 * RE2, in time linear in the text: a caller's pattern never meets a backtracking engine.
 */
import type { Resource } from '../protocol/resources.ts';
import { chunksOf, closeBodies } from './body.ts';
import { type Breaks, breaks } from './breaks.ts';
import type { Context } from './context.ts';
import { invalid, ResourceError } from './errors.ts';
import { globFilter } from './glob/filter.ts';
import { isWalked, mayHaveContent } from './own-content.ts';
import type { ResourceProvider, SearchMatch, SearchQuery } from './provider.ts';
import { isBinaryType } from './text/text.ts';

/** The most resources that one search reads, where the provider cannot search by itself. */
const MAX_RESOURCES = 10_000;

/** The most levels below the start. */
const MAX_DEPTH = 32;

/** The most bytes of one resource that are searched. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The most bytes at the beginning of a line that are matched: the engine is linear, but it does not pause. */
const MAX_LINE_BYTES = 64 * 1024;

/** The most matches in one resource. */
export const MAX_MATCHES_PER_RESOURCE = 1_000;

/** The most characters of a pattern or a glob. */
export const MAX_PATTERN_LENGTH = 4_096;

/** @throws ResourceError `invalid` for a pattern or glob that is not one */
export function searchProvider(
  provider: ResourceProvider,
  query: SearchQuery,
  ctx: Context,
): AsyncIterable<SearchMatch> {
  assertQuery(query);
  return provider.search === undefined ? searchByReading(provider, query, ctx) : provider.search(query, ctx);
}

function assertQuery({ pattern, glob }: SearchQuery): void {
  if (pattern === undefined && glob === undefined) throw invalid('A search needs a pattern, a glob, or both');
  if (pattern === '') throw invalid('A pattern has at least one character');
  for (const text of [pattern ?? '', glob ?? '']) {
    if (text.length > MAX_PATTERN_LENGTH)
      throw invalid(`A pattern or glob has at most ${MAX_PATTERN_LENGTH} characters`);
    if (/[\u0000\n\r]/.test(text))
      throw invalid('A pattern or glob has no line breaks in it: matching is line by line');
  }
}

/** The most matches of a line that are looked at until one is accepted. */
const MAX_MATCHES_PER_LINE = 16;

/** Finds the place in a line at which the pattern begins to match, or -1. Only what is accepted counts as a match; by default, all is. */
export type LineTest = (line: string, accepts?: (match: string) => boolean) => number;

const anything = (): boolean => true;

/** The test for the lines of a search; undefined where it has no pattern. @throws ResourceError `invalid` for a bad one */
export async function compileLineTest({ pattern, literal }: SearchQuery): Promise<LineTest | undefined> {
  if (pattern === undefined) return undefined;
  if (literal) return (line, accepts = anything) => (accepts(pattern) ? line.indexOf(pattern) : -1);
  const { RE2JS } = await import('re2js');
  try {
    const compiled = RE2JS.compile(pattern);
    return (line, accepts = anything) => {
      const matcher = compiled.matcher(line);
      for (let looked = 0; looked < MAX_MATCHES_PER_LINE && matcher.find(); looked++)
        if (accepts(matcher.group() ?? '')) return matcher.start();
      return -1;
    };
  } catch (error) {
    throw invalid(
      `The pattern is not a valid regular expression: ${error instanceof Error ? error.message : 'it cannot be parsed'}`,
    );
  }
}

async function* searchByReading(
  provider: ResourceProvider,
  query: SearchQuery,
  ctx: Context,
): AsyncIterable<SearchMatch> {
  const test = await compileLineTest(query);
  const included = globFilter(query.glob);
  const taken = breaks();
  for await (const { resource, path } of leaves(provider, query.uri, ctx)) {
    if (!included(path)) continue;
    if (test === undefined) yield { uri: resource.uri, path };
    else if (!isBinaryType(resource.mimeType)) {
      for await (const match of searchResource(provider, resource.uri, test, taken, ctx)) yield { ...match, path };
    }
  }
}

interface Leaf {
  readonly resource: Resource;
  /** Names below the start, joined by slashes. */
  readonly path: string;
}

async function* leaves(provider: ResourceProvider, start: string | undefined, ctx: Context): AsyncIterable<Leaf> {
  const root = start === undefined ? undefined : await provider.metadata(start, ctx);
  if (root !== undefined && mayHaveContent(root)) yield { resource: root, path: root.name };
  if (root !== undefined && root.capabilities?.list !== true) return;
  const queue: { uri: string | undefined; path: string; depth: number }[] = [{ uri: start, path: '', depth: 0 }];
  // Of mounted servers the tree may have cycles, and a resource in several places.
  const entered = new Set([start]);
  const given = new Set([start]);
  let seen = 0;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    let cursor: string | undefined;
    do {
      ctx.signal.throwIfAborted();
      const page = await provider.list(next.uri, { cursor, limit: 100 }, ctx);
      for (const resource of page.resources) {
        if (++seen > MAX_RESOURCES) return;
        const isRoot = next.uri === undefined;
        const isLeaf = resource.capabilities?.list !== true;
        const below = next.path === '' ? resource.name : `${next.path}/${resource.name}`;
        const path = isRoot && !isLeaf ? '' : below;
        if (mayHaveContent(resource) && !given.has(resource.uri)) {
          given.add(resource.uri);
          yield { resource, path: below };
        }
        if (isWalked(resource) && next.depth < MAX_DEPTH && !entered.has(resource.uri)) {
          entered.add(resource.uri);
          queue.push({ uri: resource.uri, path, depth: next.depth + 1 });
        }
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
}

async function* searchResource(
  provider: ResourceProvider,
  uri: string,
  test: LineTest,
  taken: Breaks,
  ctx: Context,
): AsyncIterable<SearchMatch> {
  try {
    const bodies = await provider.read(uri, { maxBytes: MAX_BYTES, maxChildren: 0 }, ctx);
    try {
      const body = bodies[0];
      if (body === undefined) return;
      let found = 0;
      for await (const some of lines(chunksOf(body.content), ctx.signal)) {
        for (const { bytes, line, offset } of some) {
          const turn = taken();
          if (turn !== undefined) await turn;
          ctx.signal.throwIfAborted();
          const text = bytes.toString('utf8').replace(/\r$/, '');
          const at = test(text);
          if (at === -1) continue;
          // If the text is not UTF-8, the characters that stand for its bytes can be longer than they are.
          const before = Math.min(Buffer.byteLength(text.slice(0, at)), bytes.byteLength);
          yield { uri, place: { line, offset: offset + before } };
          if (++found >= MAX_MATCHES_PER_RESOURCE) return;
        }
      }
    } finally {
      await closeBodies(bodies);
    }
  } catch (error) {
    if (!(error instanceof ResourceError)) throw error;
    ctx.log.debug('left out of a search', { uri, reason: error.code });
  }
}

interface Line {
  /** Without the newline, and without what is not matched. */
  readonly bytes: Buffer;
  readonly line: number;
  readonly offset: number;
}

const NEWLINE = 10;

const NOTHING = Buffer.alloc(0);

/**
 * The lines of a text as it streams by, with where each begins: those of each chunk together, which are gone through before
 * the next. Binary content ends it at its first NUL.
 */
async function* lines(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncIterable<Iterable<Line>> {
  let rest: Buffer = NOTHING;
  let line = 1;
  let offset = 0;
  let at = 0;

  function* linesIn(chunk: Buffer): Iterable<Line> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      yield { bytes: joined(rest, chunk.subarray(start, end)), line: line++, offset };
      rest = NOTHING;
      start = end + 1;
      offset = at + start;
    }
    // A copy: the chunk is its giver's again.
    rest = Buffer.from(joined(rest, chunk.subarray(start)));
    at += chunk.byteLength;
  }

  for await (const chunk of chunks) {
    signal.throwIfAborted();
    if (chunk.includes(0) || at > MAX_BYTES) return;
    yield linesIn(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  }
  if (rest.byteLength > 0) yield [{ bytes: rest, line, offset }];
}

/** Both, up to what of a line is matched. */
function joined(rest: Buffer, more: Buffer): Buffer {
  const part = more.subarray(0, Math.max(0, MAX_LINE_BYTES - rest.byteLength));
  return rest.byteLength === 0 ? part : Buffer.concat([rest, part]);
}
