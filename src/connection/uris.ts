/** Compares URIs of resources, which servers spell in different ways, and finds the containers that a URI may be in. */

/** Returns one form for all spellings of a URI: escapes in upper case, and no slash at the end. */
export function identityOf(uri: string): string {
  const folded = uri.includes('%') ? uri.replace(/%[0-9a-f]{2}/gi, (triplet) => triplet.toUpperCase()) : uri;
  let end = folded.length;
  while (end > 0 && folded[end - 1] === '/') end--;
  // A URI such as `notes:///` has nothing but slashes after its scheme, and keeps them.
  return folded[end - 1] === ':' ? folded : folded.slice(0, end);
}

/** The most containers of a URI that are looked at. */
const MAX_ANCESTORS = 64;

/** Gives the URIs of containers that a URI may be in, nearest first: the part before each of its slashes. */
export function* ancestorsOf(uri: string): Generator<string> {
  const begin = /^[^:]*:\/{0,2}/.exec(uri)?.[0].length ?? 0;
  let left = MAX_ANCESTORS;
  for (let at = uri.lastIndexOf('/', uri.length - 2); at >= begin; at = uri.lastIndexOf('/', at - 1)) {
    if (left-- === 0) return;
    yield uri.slice(0, at);
    // The root is given with its slash, too.
    if (uri.indexOf('/', begin) === at) yield uri.slice(0, at + 1);
    if (at === 0) return;
  }
}
