/**
 * Searches contents that may have secrets. A search of the original contents would reveal a secret, character by character, by
 * its matches, their places and number, and the time that it takes. So the provider's matches are passed on only for resources
 * that were scanned to their last byte and have no secret. Resources with a secret are searched here instead, in the text that
 * a reader gets; which resources these are does not depend on the pattern. A resource that cannot be scanned whole gives no match.
 */

import { closeBodies } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { firstMatches, MAX_MATCHES_PER_RESOURCE } from '../../core/first-matches.ts';
import { createLru } from '../../core/lru.ts';
import type { ResourceProvider, SearchMatch, SearchQuery } from '../../core/provider.ts';
import { compileLineTest, type LineTest, leaveOutOfSearch } from '../../core/search.ts';
import { type CoveredLine, coveredLines } from './lines.ts';
import type { Scanner } from './scanner.ts';
import { SUSPECT_LINES } from './suspects.ts';

/** The most bytes of one resource that are scanned. A larger resource gives no match. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The most resources that one search scans because they may have secrets. */
const MAX_SUSPECTS = 1_000;

/** The most resources of which one search remembers whether they have secrets. */
const MAX_REMEMBERED = 10_000;

export interface SearchOptions {
  readonly scanner: Scanner;
  readonly concerns: (uri: string) => boolean;
  /** Whether a line with a secret gives no match at all. */
  readonly refuse: boolean;
}

type Place = NonNullable<SearchMatch['place']>;

/** Yields the matches of a query that reveal no secret. */
export async function* searchCovered(
  inner: ResourceProvider,
  query: SearchQuery,
  options: SearchOptions,
  ctx: Context,
): AsyncIterable<SearchMatch> {
  const test = await compileLineTest(query);
  const clean = createLru<string, boolean>(MAX_REMEMBERED);
  const suspects = inner.search?.({ ...query, pattern: SUSPECT_LINES, literal: false }, ctx) ?? [];
  let searched = 0;
  for await (const { place: _place, more: _more, ...suspect } of suspects) {
    if (clean.has(suspect.uri) || !options.concerns(suspect.uri)) continue;
    if (++searched > MAX_SUSPECTS) {
      ctx.notes?.missing({ reason: `Of resources that may have secrets, only the first ${MAX_SUSPECTS} are searched` });
      break;
    }
    const places = await scanResource(inner, suspect.uri, test, options, ctx);
    clean.set(suspect.uri, places === 'clean');
    if (places !== 'clean') yield* firstMatches(places.map((place) => ({ ...suspect, place })));
  }
  // A note on a resource that is left out below would say that the pattern matches in it.
  const quiet = { ...ctx, notes: undefined };
  for await (const match of inner.search?.(query, ctx) ?? []) {
    if (options.concerns(match.uri)) {
      if (!clean.has(match.uri))
        clean.set(match.uri, (await scanResource(inner, match.uri, undefined, options, quiet)) === 'clean');
      if (clean.get(match.uri) !== true) continue;
    }
    yield match;
  }
}

/**
 * Returns `clean` for a resource without a secret, else the places of matches outside of secrets, at most one more than are
 * given; none if it cannot be scanned.
 */
async function scanResource(
  inner: ResourceProvider,
  uri: string,
  test: LineTest | undefined,
  { scanner, refuse }: SearchOptions,
  ctx: Context,
): Promise<'clean' | readonly Place[]> {
  const places: Place[] = [];
  let secrets = 0;
  let room = MAX_BYTES;
  const take = (bytes: number): void => {
    room -= bytes;
    if (room < 0) throw new ResourceError('too-large', `No more than ${MAX_BYTES} bytes are searched`, { uri });
  };
  try {
    const bodies = await inner.read(uri, { range: { offset: 0 }, maxBytes: MAX_BYTES, maxChildren: 0 }, ctx);
    try {
      for (const [index, body] of bodies.entries()) {
        if (body.child) return [];
        const onSecret = (): void => void secrets++;
        for await (const line of coveredLines(body.content, { scanner, onSecret, take }, ctx)) {
          // Of several bodies, only the first one is searched.
          if (test === undefined || index > 0 || places.length > MAX_MATCHES_PER_RESOURCE) continue;
          const place = refuse && line.covered ? undefined : placeIn(line, test);
          if (place !== undefined) places.push(place);
        }
      }
    } finally {
      await closeBodies(bodies);
    }
  } catch (error) {
    // A resource that cannot be scanned is left out, like one that does not exist any more.
    if (!(error instanceof ResourceError) || error.code === 'internal' || error.code === 'limited') throw error;
    leaveOutOfSearch(uri, error, ctx);
    return [];
  }
  return secrets === 0 ? 'clean' : places;
}

/** The first place at which a line matches outside of its secrets. */
function placeIn({ bytes, line, offset }: CoveredLine, test: LineTest): Place | undefined {
  const text = bytes.toString('utf8').replace(/\r$/, '');
  const at = test(text, (match) => !match.includes('\n'));
  if (at === -1) return undefined;
  // If the text is not UTF-8, the replacement characters can be longer than the bytes that they replace.
  return { line, offset: offset + Math.min(Buffer.byteLength(text.slice(0, at)), bytes.byteLength) };
}
