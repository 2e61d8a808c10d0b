/** URIs of resources as a server may spell them, and where one is in another. */

/** The same resource under all spellings of its URI that have to be told apart from others. */
export function identityOf(uri: string): string {
  const folded = uri.includes('%') ? uri.replace(/%[0-9a-f]{2}/gi, (triplet) => triplet.toUpperCase()) : uri;
  let end = folded.length;
  while (end > 0 && folded[end - 1] === '/') end--;
  // The root of a scheme is all slashes: `notes:///`.
  return folded[end - 1] === ':' ? folded : folded.slice(0, end);
}

/** Containers around a URI that are looked at. */
const MAX_ANCESTORS = 64;

/** The URIs of containers that one may be in, nearest first: what is before each of its slashes. */
export function* ancestorsOf(uri: string): Generator<string> {
  const begin = /^[^:]*:\/{0,2}/.exec(uri)?.[0].length ?? 0;
  let left = MAX_ANCESTORS;
  for (let at = uri.lastIndexOf('/', uri.length - 2); at >= begin; at = uri.lastIndexOf('/', at - 1)) {
    if (left-- === 0) return;
    yield uri.slice(0, at);
    // A root keeps its slash.
    if (uri.indexOf('/', begin) === at) yield uri.slice(0, at + 1);
    if (at === 0) return;
  }
}
