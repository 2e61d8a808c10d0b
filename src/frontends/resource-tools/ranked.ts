/**
 * Ranked search as the `search` tool shows it. A place is shown as its caller reads it, and only if what is asked for is in
 * what the caller reads: nothing that the index knows is told.
 */
import { closeBodies } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import type { RankedMatch, RankedSearch } from '../../core/ranked.ts';
import { isBinaryType } from '../../core/text/text.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';
import { lineUri } from '../resources/line-uri.ts';
import type { ResourceOptions } from '../resources/options.ts';
import { readConfirmed } from '../resources/read.ts';
import { take } from './snippet.ts';

/** Places whose order is made of what the caller reads, where the index may not tell it. */
const MAX_UNSURE = 100;

/** The parts of a question that are more than words: phrases, NEAR, filters, and the beginnings of words. */
const PARTS =
  /"[^"]*"|NEAR\([^()]*\)|\b(?:mount|in|type|after|before|larger|smaller):\S+|[\p{L}\p{M}\p{N}]+\*(?=\s|$)/gu;

/** Words, and the signs of sentences where they stand in one. */
const SENTENCE = /^(?:[\p{L}\p{M}\p{N}\s'’,_-]|[.;:?!](?=\s|$))*$/u;

/** Whether a pattern reads like a question in words rather than an expression. */
export const isQuestion = (pattern: string): boolean =>
  /[\p{L}\p{N}]/u.test(pattern) && SENTENCE.test(pattern.replace(PARTS, ' '));

/** A place as its caller reads it. */
export interface Shown {
  /** With its lines in the URI, where it has a text; a description where it has none. */
  readonly item: (Resource & { readonly text: string }) | Resource;
  /** The line that fits best. */
  readonly line: number | undefined;
  /** How many terms of the question are there; 0 only of what was found by meaning. */
  readonly fit: number;
}

export interface ShowOptions {
  /** Lines before and after the one that fits best. */
  readonly lines: number;
  readonly maxBytes: number;
}

/** The matches in an order that tells the caller nothing but what it may read. */
export async function* inOrder(
  ranked: RankedSearch,
  query: Parameters<RankedSearch['find']>[0],
  fitOf: (match: RankedMatch) => Promise<number>,
  ctx: Context,
): AsyncGenerator<RankedMatch> {
  const unsure: { readonly match: RankedMatch; readonly fit: number }[] = [];
  let looked = 0;
  for await (const match of ranked.find(query, ctx)) {
    if (match.passage.unsure !== true && looked === 0) {
      yield match;
      continue;
    }
    // From the first one on, each has its place by what is in it.
    if (looked++ >= MAX_UNSURE) break;
    const fit = await fitOf(match);
    if (fit > 0) unsure.push({ match, fit });
  }
  unsure.sort((a, b) => b.fit - a.fit || (a.match.uri < b.match.uri ? -1 : 1));
  for (const { match } of unsure) yield match;
}

/** Undefined where the caller may not read it, or what it reads is about something else. @throws ResourceError */
export async function showPassage(
  resources: ResourceOptions,
  match: RankedMatch,
  options: ShowOptions,
  ctx: Context,
): Promise<Shown | undefined> {
  const { passage } = match;
  if (passage.lines === undefined) {
    const item = await resources.provider.metadata(match.uri, { ...ctx, purpose: 'read' });
    const fit = passage.fits(wordsAbout(item)).size;
    return fit === 0 && passage.meant !== true ? undefined : { item, line: undefined, fit };
  }
  const read = (await readBytes(resources, match, ctx)) ?? (await readLines(resources, match, ctx));
  if (read === undefined) return undefined;
  const { resource, text, first } = read;
  const fit = passage.fits(`${wordsAbout(resource)}\n${passage.heading ?? ''}\n${text}`).size;
  if (fit === 0 && passage.meant !== true) return undefined;
  const lines = text.replace(/\n$/, '').split('\n');
  const { from: begin, best } = bestLines(lines, passage.fits, options.lines);
  let from = begin;
  const shown = lines.slice(from, from + options.lines * 2 + 1);
  while (shown.length > 1 && Buffer.byteLength(shown.join('\n')) > options.maxBytes) {
    if (from + shown.length - 1 > best) shown.pop();
    else from += shown.splice(0, 1).length;
  }
  const uri = lineUri(match.uri, { first: first + from, last: first + from + shown.length - 1 });
  const words = shown.map((line) => line.replace(/\r$/, '')).join('\n');
  return { item: { ...resource, uri, text: cut(words, options.maxBytes) }, line: first + best, fit };
}

const wordsAbout = ({ uri, name, title, description }: Resource): string =>
  [decoded(uri), name, title, description].join('\n');

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

const cut = (text: string, maxBytes: number): string =>
  Buffer.byteLength(text) <= maxBytes
    ? text
    : Buffer.from(text)
        .subarray(0, maxBytes)
        .toString('utf8')
        .replace(/\uFFFD$/, '');

/** The lines that have the most of the question together, and of these the one that has the most. */
function bestLines(
  lines: readonly string[],
  fits: (text: string) => ReadonlySet<number>,
  around: number,
): { readonly from: number; readonly best: number } {
  const terms = lines.map(fits);
  let found = { from: 0, best: 0 };
  let most = -1;
  for (const [best, own] of terms.entries()) {
    const from = Math.max(0, best - around);
    const together = new Set(terms.slice(from, from + around * 2 + 1).flatMap((each) => [...each]));
    const score = together.size + own.size / 100;
    if (score > most && (own.size > 0 || most < 0)) [found, most] = [{ from, best }, score];
  }
  return found;
}

interface Read {
  readonly resource: Resource;
  readonly text: string;
  /** Number of its first line. */
  readonly first: number;
}

/** Only its bytes, of a resource that is as it was; undefined where it is not, or where they are no text as they are. */
async function readBytes(
  { provider }: ResourceOptions,
  { uri, passage }: RankedMatch,
  ctx: Context,
): Promise<Read | undefined> {
  const { bytes: range, lines } = passage;
  if (range === undefined || lines === undefined) return undefined;
  const bodies = await provider.read(uri, { range, maxBytes: Number.MAX_SAFE_INTEGER, maxChildren: 0 }, ctx);
  try {
    const [body] = bodies;
    if (body === undefined || body.child || isBinaryType(body.resource.mimeType)) return undefined;
    const { size, annotations } = body.resource;
    if (size !== passage.size || timeOf(annotations?.lastModified) !== passage.changed) return undefined;
    const bytes = await take(body.content, body.window === undefined ? range.offset : 0, range.length);
    return { resource: body.resource, text: bytes.toString('utf8'), first: lines.first };
  } finally {
    await closeBodies(bodies);
  }
}

function timeOf(lastModified: string | undefined): string | undefined {
  const time = Date.parse(lastModified ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** Its lines as they are now, of whichever format has them. */
async function readLines(
  resources: ResourceOptions,
  { uri, passage }: RankedMatch,
  ctx: Context,
): Promise<Read | undefined> {
  const { lines } = passage;
  if (lines === undefined) return undefined;
  const { contents } = await readConfirmed(resources, { uri: lineUri(uri, lines) }, ctx);
  const [content] = contents;
  if (content === undefined) return undefined;
  const { text, ...resource } = withText(content);
  return { resource, text, first: lines.first };
}

/** Bytes of another encoding are shown as far as they can be, like the lines of any search. */
function withText(content: ResourceContents): Resource & { readonly text: string } {
  if ('text' in content) return content;
  const { blob, ...resource } = content;
  return { ...resource, text: Buffer.from(blob, 'base64').toString('latin1') };
}
