/**
 * Search where there are secrets. A search of contents as they are would spell a secret out, character by character: by
 * what it finds, by where, by how many it finds, and by how long it takes. So it answers only for resources that have
 * been looked through whole, to their last byte, and have no secret. Those that have one are searched here, in the text
 * that a reader gets, whatever the search of the provider would say of them; which they are does not depend on the
 * pattern. What cannot be looked through whole is not told of.
 */

import { closeBodies } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createLru } from '../../core/lru.ts';
import type { ResourceProvider, SearchMatch, SearchQuery } from '../../core/provider.ts';
import { compileLineTest, type LineTest, MAX_MATCHES_PER_RESOURCE } from '../../core/search.ts';
import { type CoveredLine, coveredLines } from './lines.ts';
import type { Scanner } from './scanner.ts';
import { SUSPECT_LINES } from './suspects.ts';

/** The most bytes of one resource that are looked through: a larger one is not told of. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The most resources of one search that are searched here. */
const MAX_SUSPECTS = 1_000;

/** The most resources of one search of which it is remembered whether they have secrets. */
const MAX_REMEMBERED = 10_000;

export interface SearchOptions {
  readonly scanner: Scanner;
  readonly concerns: (uri: string) => boolean;
  /** A line with a secret is not told of at all. */
  readonly refuse: boolean;
}

type Place = NonNullable<SearchMatch['place']>;

/** The matches of a query with a pattern that may be told of. */
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
  for await (const { place: _place, ...suspect } of suspects) {
    if (clean.has(suspect.uri) || !options.concerns(suspect.uri)) continue;
    if (++searched > MAX_SUSPECTS) break;
    const places = await lookInto(inner, suspect.uri, test, options, ctx);
    clean.set(suspect.uri, places === 'clean');
    if (places !== 'clean') for (const place of places) yield { ...suspect, place };
  }
  for await (const match of inner.search?.(query, ctx) ?? []) {
    if (options.concerns(match.uri)) {
      if (!clean.has(match.uri))
        clean.set(match.uri, (await lookInto(inner, match.uri, undefined, options, ctx)) === 'clean');
      if (clean.get(match.uri) !== true) continue;
    }
    yield match;
  }
}

/** Whether a resource has no secret; where it has one, the places that may be told of. None where it cannot be known. */
async function lookInto(
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
          // Of several bodies, a search is of the first.
          if (test === undefined || index > 0 || places.length >= MAX_MATCHES_PER_RESOURCE) continue;
          const place = refuse && line.covered ? undefined : placeIn(line, test);
          if (place !== undefined) places.push(place);
        }
      }
    } finally {
      await closeBodies(bodies);
    }
  } catch (error) {
    // A resource that cannot be looked through is left out, like one that is gone by now.
    if (!(error instanceof ResourceError) || error.code === 'internal' || error.code === 'limited') throw error;
    ctx.log.debug('left out of a search', { uri, reason: error.code });
    return [];
  }
  return secrets === 0 ? 'clean' : places;
}

/** The first place at which a line matches outside of its secrets. */
function placeIn({ bytes, line, offset }: CoveredLine, test: LineTest): Place | undefined {
  const text = bytes.toString('utf8').replace(/\r$/, '');
  const at = test(text, (match) => !match.includes('\n'));
  if (at === -1) return undefined;
  // If the text is not UTF-8, the characters that stand for its bytes can be longer than they are.
  return { line, offset: offset + Math.min(Buffer.byteLength(text.slice(0, at)), bytes.byteLength) };
}
