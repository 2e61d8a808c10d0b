/** Finds matches on any server: reads each text, within limits, and matches its lines one by one. */

import { isListable, type ListedResource } from '../../../client/shapes.ts';
import { globFilter } from '../../../core/glob/filter.ts';
import { isBinaryType } from '../../../core/text/text.ts';
import { decodedText } from '../../../core/uri.ts';
import { EXIT_OK } from '../exit-codes.ts';
import { messageOf } from '../failures.ts';
import type { Session } from '../reaching/connect.ts';
import { tellWalk } from '../stops.ts';
import type { Match, Query } from './query.ts';

/** The most characters of a line that are matched, from its beginning. The engine takes linear time, but nothing interrupts it. */
const MAX_LINE = 64 * 1024;

/** The most matches in one resource that are kept. */
const MAX_MATCHES = 1_000;

/** The number of resources that are read at the same time. */
const CONCURRENCY = 4;

/** @param cut is called when something is left out, but not for a limit that the user set */
export async function* matchesByReading(
  start: string | undefined,
  query: Query,
  session: Session,
  cut: () => void,
): AsyncGenerator<Match> {
  const { output, signal } = session;
  const included = globFilter(query.glob);
  const reading: { readonly uri: string; readonly found: Promise<readonly Match[]> }[] = [];
  let count = 0;
  async function take(): Promise<readonly Match[]> {
    const next = reading.shift();
    if (next === undefined) return [];
    try {
      return await next.found;
    } catch (error) {
      signal.throwIfAborted();
      output.note(`${next.uri}: ${messageOf(error)}`);
      cut();
      return [];
    }
  }
  for await (const { resource, path } of texts(start, query, session, cut)) {
    if (!included(path)) continue;
    output.progress(`${++count} texts`);
    const found = inText(resource.uri, query, session, cut);
    found.catch(() => {});
    reading.push({ uri: resource.uri, found });
    if (reading.length >= CONCURRENCY) yield* await take();
  }
  while (reading.length > 0) yield* await take();
}

interface TextResource {
  readonly resource: ListedResource;
  /** The path that is compared with `--include`. */
  readonly path: string;
}

async function* texts(
  start: string | undefined,
  { maxResources, maxDepth, wanted }: Query,
  { resources, signal, output }: Session,
  cut: () => void,
): AsyncGenerator<TextResource> {
  if (start !== undefined) {
    const { resource } = await resources.metadata(start, { signal });
    if (isListable(resource) !== true) {
      yield { resource, path: resource.name };
      return;
    }
  }
  const walk = resources.walk(start, { maxResources, maxDepth, signal });
  for await (const { resource } of walk) {
    if (isListable(resource) === true || isBinaryType(resource.mimeType)) continue;
    yield { resource, path: pathOf(resource.uri) };
  }
  if (tellWalk(walk.report, output, wanted) !== EXIT_OK) cut();
}

const pathOf = (uri: string): string => decodedText(uri.replace(/^[^:]*:(?:\/\/[^/]*)?\/?/, ''));

async function inText(
  uri: string,
  { test, maxBytes, firstOnly }: Query,
  { resources, signal, output }: Session,
  cut: () => void,
): Promise<readonly Match[]> {
  const { primary } = await resources.read(uri, { signal, maxBytes });
  const text = primary?.text();
  if (text === undefined || text.includes('\0')) return [];
  const matches: Match[] = [];
  let number = 0;
  for (let begin = 0; begin <= text.length; ) {
    const newline = text.indexOf('\n', begin);
    const end = newline === -1 ? text.length : newline;
    number++;
    const line = text.slice(begin, Math.min(end, begin + MAX_LINE)).replace(/\r$/, '');
    if (test(line) !== -1) {
      if (matches.length >= MAX_MATCHES) {
        output.note(`${uri}: stopped after ${MAX_MATCHES} matches`);
        cut();
        break;
      }
      matches.push({ uri, line: number, text: line });
      if (firstOnly) break;
    }
    begin = end + 1;
    if (newline === -1) break;
  }
  return matches;
}
