/** Limits the matches of each resource in a search, and marks the last one where the resource has more. */
import type { SearchMatch } from './provider.ts';

/** The most matches of one resource. */
export const MAX_MATCHES_PER_RESOURCE = 1_000;

/** The reason why a resource is among the missing parts of an answer, after a match with `more`. */
export const MORE_MATCHES = `Only its first ${MAX_MATCHES_PER_RESOURCE} matches are given`;

/**
 * Yields the first matches of each resource. Where there are more, the last one that is given has `more`: a layer that may not
 * show the resource leaves out the match, and thereby the hint.
 * @param matches those of one resource follow each other
 */
export async function* firstMatches(
  matches: AsyncIterable<SearchMatch> | Iterable<SearchMatch>,
): AsyncIterable<SearchMatch> {
  let uri: string | undefined;
  let count = 0;
  /** The last match that may be given, until it is known whether there is one more. */
  let last: SearchMatch | undefined;
  for await (const match of matches) {
    if (match.uri !== uri) {
      if (last !== undefined) yield last;
      last = undefined;
      uri = match.uri;
      count = 0;
    }
    count++;
    if (count < MAX_MATCHES_PER_RESOURCE) yield match;
    else if (count === MAX_MATCHES_PER_RESOURCE) last = match;
    else if (last !== undefined) {
      yield { ...last, more: true };
      last = undefined;
    }
  }
  if (last !== undefined) yield last;
}
