/**
 * Search in any provider: by its own means where it has them, else by reading text after text. Patterns are matched by
 * RE2, in time linear in the text: a caller's pattern never meets a backtracking engine.
 */
import picomatch from 'picomatch';
import type { Resource } from '../protocol/resources.ts';
import { chunksOf, closeBodies } from './body.ts';
import type { Context } from './context.ts';
import { invalid, ResourceError } from './errors.ts';
import type { ResourceProvider, SearchMatch, SearchQuery } from './provider.ts';
import { isBinaryType } from './text.ts';

/** Resources that one search reads, where the provider cannot search by itself. */
const MAX_RESOURCES = 10_000;

/** Levels below the start. */
const MAX_DEPTH = 32;

/** Bytes of one resource that are searched. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Matches in one resource. */
export const MAX_MATCHES_PER_RESOURCE = 1_000;

/** Characters of a pattern or a glob. */
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

/** Whether a path below the start of a search matches the glob; without one, all do. */
export function globFilter(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  return picomatch(glob, { dot: true, basename: !glob.includes('/') });
}

type LineTest = (line: string) => number;

/** Where in a line the pattern begins to match, or -1. */
async function compileLineTest({ pattern, literal }: SearchQuery): Promise<LineTest | undefined> {
  if (pattern === undefined) return undefined;
  if (literal) return (line) => line.indexOf(pattern);
  const { RE2JS } = await import('re2js');
  try {
    const compiled = RE2JS.compile(pattern);
    return (line) => {
      const matcher = compiled.matcher(line);
      return matcher.find() ? matcher.start() : -1;
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
  for await (const { resource, path } of leaves(provider, query.uri, ctx)) {
    if (!included(path)) continue;
    if (test === undefined) yield { uri: resource.uri };
    else if (!isBinaryType(resource.mimeType)) yield* searchResource(provider, resource.uri, test, ctx);
  }
}

interface Leaf {
  readonly resource: Resource;
  /** Names below the start, joined by slashes. */
  readonly path: string;
}

async function* leaves(provider: ResourceProvider, start: string | undefined, ctx: Context): AsyncIterable<Leaf> {
  const root = start === undefined ? undefined : await provider.metadata(start, ctx);
  if (root !== undefined && root.capabilities?.list !== true) {
    yield { resource: root, path: root.name };
    return;
  }
  const queue: { uri: string | undefined; path: string; depth: number }[] = [{ uri: start, path: '', depth: 0 }];
  let seen = 0;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    let cursor: string | undefined;
    do {
      ctx.signal.throwIfAborted();
      const page = await provider.list(next.uri, { cursor, limit: 100 }, ctx);
      for (const resource of page.resources) {
        if (++seen > MAX_RESOURCES) return;
        const isRoot = next.uri === undefined;
        const path = isRoot ? '' : next.path === '' ? resource.name : `${next.path}/${resource.name}`;
        if (resource.capabilities?.list !== true) yield { resource, path };
        else if (next.depth < MAX_DEPTH) queue.push({ uri: resource.uri, path, depth: next.depth + 1 });
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
}

async function* searchResource(
  provider: ResourceProvider,
  uri: string,
  test: LineTest,
  ctx: Context,
): AsyncIterable<SearchMatch> {
  try {
    const bodies = await provider.read(uri, { maxBytes: MAX_BYTES, maxChildren: 0 }, ctx);
    try {
      const body = bodies[0];
      if (body === undefined) return;
      let found = 0;
      for await (const { text, line, offset } of lines(chunksOf(body.content), ctx.signal)) {
        const at = test(text);
        if (at === -1) continue;
        yield { uri, place: { line, offset: offset + Buffer.byteLength(text.slice(0, at)) } };
        if (++found >= MAX_MATCHES_PER_RESOURCE) return;
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
  readonly text: string;
  readonly line: number;
  readonly offset: number;
}

const NEWLINE = 10;

/** The lines of a text as it streams by, with where each begins. Binary content ends it at its first NUL. */
async function* lines(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncIterable<Line> {
  let rest = Buffer.alloc(0);
  let line = 1;
  let offset = 0;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    if (chunk.includes(0) || offset > MAX_BYTES) return;
    let buffer = rest.byteLength === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    for (let end = buffer.indexOf(NEWLINE); end !== -1; end = buffer.indexOf(NEWLINE)) {
      yield { text: buffer.toString('utf8', 0, end), line: line++, offset };
      offset += end + 1;
      buffer = buffer.subarray(end + 1);
    }
    rest = buffer;
  }
  if (rest.byteLength > 0) yield { text: rest.toString('utf8'), line, offset };
}
