/**
 * Searches any provider: with the provider's own search if it has one, else by reading one text after the other. RE2 matches
 * the patterns, in time linear in the text: a caller's pattern never runs in a backtracking engine.
 */
import type { Resource } from '../protocol/resources.ts';
import { chunksOf, closeBodies } from './body.ts';
import { type Breaks, breaks } from './breaks.ts';
import type { Context } from './context.ts';
import { invalid, ResourceError } from './errors.ts';
import { firstMatches, MAX_MATCHES_PER_RESOURCE } from './first-matches.ts';
import { globFilter } from './glob/filter.ts';
import { isWalked, mayHaveContent } from './own-content.ts';
import type { ResourceProvider, SearchMatch, SearchQuery } from './provider.ts';
import { isBinaryType } from './text/text.ts';

/** The most resources that one search looks at, if the provider cannot search by itself. */
const MAX_RESOURCES = 10_000;

/** The most levels below the start. */
const MAX_DEPTH = 32;

/** The most bytes of one resource that are searched. */
const MAX_BYTES = 64 * 1024 * 1024;

const LARGE = `Only the first ${MAX_BYTES / 1024 ** 2} MiB of a resource are searched`;

/** Only so many bytes at the beginning of a line are matched, since the engine cannot be interrupted within a line. */
const MAX_LINE_BYTES = 64 * 1024;

/** The most characters of a pattern or a glob. */
export const MAX_PATTERN_LENGTH = 4_096;

/** A pattern or glob with one of these is refused with `ONE_LINE`. */
export const LINE_BREAK = /[\u0000\n\r]/;
export const ONE_LINE = 'A pattern or glob cannot contain a line break: matching is line by line';

/** Searches a provider. @throws ResourceError `invalid` for an invalid pattern or glob */
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
    if (LINE_BREAK.test(text)) throw invalid(ONE_LINE);
  }
}

/** The most matches in a line that are offered to `accepts`. */
const MAX_MATCHES_PER_LINE = 16;

/** Returns the index in a line at which the first match begins that `accepts` accepts, or -1. By default it accepts every match. */
export type LineTest = (line: string, accepts?: (match: string) => boolean) => number;

const anything = (): boolean => true;

/** Returns the test for lines; undefined for a search without a pattern. @throws ResourceError `invalid` for a bad pattern */
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
  const takeBreak = breaks();
  for await (const { resource, path } of leaves(provider, query.uri, ctx)) {
    if (!included(path)) continue;
    if (test === undefined) yield { uri: resource.uri, path };
    else if (!isBinaryType(resource.mimeType)) {
      const matches = firstMatches(searchResource(provider, resource.uri, test, takeBreak, ctx));
      for await (const match of matches) yield { ...match, path };
    }
  }
}

interface Leaf {
  readonly resource: Resource;
  /** The names that lead from the start to the resource, joined by slashes. */
  readonly path: string;
}

async function* leaves(provider: ResourceProvider, start: string | undefined, ctx: Context): AsyncIterable<Leaf> {
  const root = start === undefined ? undefined : await provider.metadata(start, ctx);
  if (root !== undefined && mayHaveContent(root)) yield { resource: root, path: root.name };
  if (root !== undefined && root.capabilities?.list !== true) return;
  const queue: { uri: string | undefined; path: string; depth: number }[] = [{ uri: start, path: '', depth: 0 }];
  // The tree of a mounted server may have cycles, and a resource may be in several places.
  const entered = new Set([start]);
  const yielded = new Set([start]);
  let seen = 0;
  let isCut = false;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    let cursor: string | undefined;
    do {
      ctx.signal.throwIfAborted();
      const page = await provider.list(next.uri, { cursor, limit: 100 }, ctx);
      for (const resource of page.resources) {
        if (++seen > MAX_RESOURCES) {
          ctx.log.warn('left out of a search: resources after the first', {
            provider: provider.name,
            searched: MAX_RESOURCES,
          });
          ctx.notes?.missing({ reason: `Only the first ${MAX_RESOURCES} resources are searched` });
          return;
        }
        const isRoot = next.uri === undefined;
        const isLeaf = resource.capabilities?.list !== true;
        const below = next.path === '' ? resource.name : `${next.path}/${resource.name}`;
        const path = isRoot && !isLeaf ? '' : below;
        if (mayHaveContent(resource) && !yielded.has(resource.uri)) {
          yielded.add(resource.uri);
          yield { resource, path: below };
        }
        if (!isWalked(resource) || entered.has(resource.uri)) continue;
        if (next.depth < MAX_DEPTH) {
          entered.add(resource.uri);
          queue.push({ uri: resource.uri, path, depth: next.depth + 1 });
        } else if (!isCut) {
          isCut = true;
          ctx.log.warn('left out of a search: folders that lie too deep', {
            provider: provider.name,
            levels: MAX_DEPTH,
          });
          ctx.notes?.missing({ reason: `Folders more than ${MAX_DEPTH} levels down are not searched` });
        }
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
}

/** Yields the matches of a resource, at most one more than are given. */
async function* searchResource(
  provider: ResourceProvider,
  uri: string,
  test: LineTest,
  takeBreak: Breaks,
  ctx: Context,
): AsyncIterable<SearchMatch> {
  try {
    const bodies = await provider.read(uri, { maxBytes: MAX_BYTES, maxChildren: 0 }, ctx);
    try {
      const body = bodies[0];
      if (body === undefined) return;
      let found = 0;
      const cut = (): void => ctx.notes?.missing({ reason: LARGE });
      for await (const linesOfChunk of lines(chunksOf(body.content), cut, ctx.signal)) {
        for (const { bytes, line, offset } of linesOfChunk) {
          const pause = takeBreak();
          if (pause !== undefined) await pause;
          ctx.signal.throwIfAborted();
          const text = bytes.toString('utf8').replace(/\r$/, '');
          const at = test(text);
          if (at === -1) continue;
          // In text that is not UTF-8, a replacement character can be longer than the bytes that it replaces.
          const before = Math.min(Buffer.byteLength(text.slice(0, at)), bytes.byteLength);
          yield { uri, place: { line, offset: offset + before } };
          if (++found > MAX_MATCHES_PER_RESOURCE) return;
        }
      }
    } finally {
      await closeBodies(bodies);
    }
  } catch (error) {
    if (!(error instanceof ResourceError)) throw error;
    leaveOutOfSearch(uri, error, ctx);
  }
}

/** Notes that a search goes on without a resource. */
export function leaveOutOfSearch(uri: string, error: ResourceError, ctx: Context): void {
  ctx.log.debug('left out of a search', { uri, reason: error.code });
  // No URI, because the caller may not be allowed to see it. A resource that is gone is not missing.
  if (error.retryable) ctx.notes?.missing({ reason: 'Some resources cannot be read now' });
  else if (error.code === 'too-large') ctx.notes?.missing({ reason: 'Some resources are too large to be searched' });
}

interface Line {
  /** The beginning of the line, up to `MAX_LINE_BYTES`, without the newline. */
  readonly bytes: Buffer;
  readonly line: number;
  readonly offset: number;
}

const NEWLINE = 10;

const NOTHING = Buffer.alloc(0);

/**
 * Gives the lines of a streamed text, with the number and offset of each. It yields the lines of one chunk at a time; the
 * caller must iterate over them before it takes the next chunk. A chunk with a NUL is binary and ends the lines.
 * @param cut is called when the text goes on after `MAX_BYTES`
 */
async function* lines(
  chunks: AsyncIterable<Uint8Array>,
  cut: () => void,
  signal: AbortSignal,
): AsyncIterable<Iterable<Line>> {
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
    // A copy, because the chunk's memory may be used again.
    rest = Buffer.from(joined(rest, chunk.subarray(start)));
    at += chunk.byteLength;
  }

  for await (const chunk of chunks) {
    signal.throwIfAborted();
    const part = chunk.subarray(0, MAX_BYTES - at);
    if (part.includes(0)) return;
    yield linesIn(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
    if (part.byteLength < chunk.byteLength) {
      cut();
      break;
    }
  }
  if (rest.byteLength > 0) yield [{ bytes: rest, line, offset }];
}

/** Joins the parts of a line, up to `MAX_LINE_BYTES`. */
function joined(rest: Buffer, more: Buffer): Buffer {
  const part = more.subarray(0, Math.max(0, MAX_LINE_BYTES - rest.byteLength));
  return rest.byteLength === 0 ? part : Buffer.concat([rest, part]);
}
