/**
 * Shows results of ranked search in the `search` tool. A place is shown as the caller reads it, and only if the content
 * that the caller reads matches the question. So the index reveals nothing.
 */

import { closeBodies } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import type { RankedMatch, RankedSearch } from '../../core/ranked.ts';
import { isBinaryType } from '../../core/text/text.ts';
import { decodedText } from '../../core/uri.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';
import { lineUri } from '../resources/line-uri.ts';
import type { ResourceOptions } from '../resources/options.ts';
import { readConfirmed } from '../resources/read.ts';
import { take } from './snippet.ts';

/** The most places that are ranked by the caller's view of their content, where the order of the index could leak something. */
const MAX_UNSURE = 100;

/** The parts of a question that are more than words: phrases, NEAR, filters, and prefixes. */
const PARTS =
  /"[^"]*"|NEAR\([^()]*\)|\b(?:mount|in|type|after|before|larger|smaller):\S+|[\p{L}\p{M}\p{N}]+\*(?=\s|$)/gu;

/** Matches words and the punctuation of sentences. */
const SENTENCE = /^(?:[\p{L}\p{M}\p{N}\s'’,_-]|[.;:?!](?=\s|$))*$/u;

/** Whether a pattern reads like a question in words rather than an expression. */
export const isQuestion = (pattern: string): boolean =>
  /[\p{L}\p{N}]/u.test(pattern) && SENTENCE.test(pattern.replace(PARTS, ' '));

/** A place as the caller reads it. */
export interface Shown {
  /** The content, with its lines in the URI, where it has a text; otherwise a description. */
  readonly item: (Resource & { readonly text: string }) | Resource;
  /** The line that fits best. */
  readonly line: number | undefined;
  /** The number of terms of the question in it; 0 only for a place found by meaning. */
  readonly fit: number;
}

export interface ShowOptions {
  /** Lines to show before and after the best line. */
  readonly lines: number;
  readonly maxBytes: number;
}

/** Yields the matches in an order that reveals only what the caller may read. */
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
    // Each further place is ranked by its content.
    if (looked++ >= MAX_UNSURE) break;
    const fit = await fitOf(match);
    if (fit > 0) unsure.push({ match, fit });
  }
  unsure.sort((a, b) => b.fit - a.fit || (a.match.uri < b.match.uri ? -1 : 1));
  for (const { match } of unsure) yield match;
}

/** Returns undefined where the caller may not read the place, or its content does not match. @throws ResourceError */
export async function showPassage(
  resources: ResourceOptions,
  match: RankedMatch,
  options: ShowOptions,
  ctx: Context,
): Promise<Shown | undefined> {
  const { passage } = match;
  if (passage.lines === undefined) {
    const item = await resources.provider.metadata(match.uri, { ...ctx, purpose: 'read' });
    const fit = passage.fits([wordsAbout(item)]).together.size;
    return fit === 0 && passage.meant !== true ? undefined : { item, line: undefined, fit };
  }
  const read = (await readBytes(resources, match, ctx)) ?? (await readLines(resources, match, ctx));
  if (read === undefined) return undefined;
  const { resource, text, first } = read;
  const lines = text.replace(/\n$/, '').split('\n');
  const { each, together } = passage.fits([...lines, `${wordsAbout(resource)}\n${passage.heading ?? ''}`]);
  const fit = together.size;
  if (fit === 0 && passage.meant !== true) return undefined;
  const { from: begin, best } = bestLines(each.slice(0, -1), options.lines);
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
  [decodedText(uri), name, title, description].join('\n');

const cut = (text: string, maxBytes: number): string =>
  Buffer.byteLength(text) <= maxBytes
    ? text
    : Buffer.from(text)
        .subarray(0, maxBytes)
        .toString('utf8')
        .replace(/\uFFFD$/, '');

/** Returns the lines that together have the most terms, and among them the line with the most. @param terms of each line */
function bestLines(
  terms: readonly ReadonlySet<number>[],
  around: number,
): { readonly from: number; readonly best: number } {
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

/** Reads only the passage's bytes of an unchanged resource; undefined where it has changed, or its bytes are not text. */
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

/** Reads the passage's lines as they are now, in whichever format has them. */
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

/** Decodes bytes of another encoding as far as possible, as any search shows them. */
function withText(content: ResourceContents): Resource & { readonly text: string } {
  if ('text' in content) return content;
  const { blob, ...resource } = content;
  return { ...resource, text: Buffer.from(blob, 'base64').toString('latin1') };
}
