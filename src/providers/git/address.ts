/**
 * Parses the URIs of a repository into addresses, and writes the one URI of each address.
 *
 * A revision is `HEAD`, `branches/<name>`, `tags/<name>` or `commits/<hash>`: one segment or two, a slash in the name of
 * a branch or tag being `~2F`. Where a URI begins with one, what follows is a path in its tree. What is said about a
 * path has a word of its own in front, so that no name of a file can be taken for it.
 */
import { invalid, notFound, ResourceError } from '../../core/errors.ts';
import { parseTreeUri, treeUri } from '../../core/uri.ts';
import { nameOf, segmentOf, toShown } from './names.ts';

export const SCHEME = 'git';

/** Names on the way to an entry, at most. */
const MAX_DEPTH = 1_024;

export type Revision =
  | { readonly kind: 'head' }
  | { readonly kind: 'branch'; readonly name: string }
  | { readonly kind: 'tag'; readonly name: string }
  | { readonly kind: 'commit'; readonly oid: string };

type View = 'log' | 'blame' | 'diff';

interface PathAddress<Kind extends 'tree' | View> {
  readonly kind: Kind;
  readonly revision: Revision;
  readonly path: readonly string[];
}

export type Address =
  | { readonly kind: 'root' }
  | { readonly kind: 'branches' }
  | { readonly kind: 'tags' }
  | { readonly kind: 'commits' }
  /** A commit itself, as a document. */
  | { readonly kind: 'commit'; readonly revision: Revision }
  /** A folder or file; its history; who wrote which line; what the revision changed. */
  | PathAddress<'tree'>
  | PathAddress<'log'>
  | PathAddress<'blame'>
  | PathAddress<'diff'>
  /** The differences from `base` to `revision`. */
  | {
      readonly kind: 'compare';
      readonly base: Revision;
      readonly revision: Revision;
      readonly path: readonly string[];
    };

export interface ParsedUri {
  readonly address: Address;
  readonly trailingSlash: boolean;
}

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export const isHash = (text: string): boolean => HASH.test(text);

/** @throws ResourceError `invalid` for what is not a URI of a repository, `not-found` for a word that means nothing */
export function parseUri(uri: string): ParsedUri {
  const { segments, trailingSlash } = parseTreeUri(uri, SCHEME);
  if (segments.length > MAX_DEPTH) throw invalid(`A path has at most ${MAX_DEPTH} names`, uri);
  const names = segments.map((segment) => {
    const name = nameOf(segment);
    if (name === undefined)
      throw invalid('A ~ with two hexadecimal digits stands for what cannot be written else', uri);
    return name;
  });
  return { address: addressOf(names, uri), trailingSlash };
}

const VIEWS: ReadonlySet<string> = new Set(['log', 'blame', 'diff']);

function addressOf(names: readonly string[], uri: string): Address {
  const [first, ...rest] = names;
  if (first === undefined) return { kind: 'root' };
  if (rest.length === 0 && (first === 'branches' || first === 'tags' || first === 'commits')) return { kind: first };
  if (first === 'commit') {
    const { revision, path } = takeRevision(rest, uri);
    if (path.length > 0) throw notFound(uri);
    return { kind: 'commit', revision };
  }
  if (first === 'compare') {
    const { revision: base, path: more } = takeRevision(rest, uri);
    return { kind: 'compare', base, ...takeRevision(more, uri) };
  }
  if (VIEWS.has(first)) return { kind: first as View, ...takeRevision(rest, uri) };
  return { kind: 'tree', ...takeRevision(names, uri) };
}

function takeRevision(
  names: readonly string[],
  uri: string,
): { readonly revision: Revision; readonly path: readonly string[] } {
  const [word, name, ...rest] = names;
  if (word === 'HEAD') return { revision: { kind: 'head' }, path: names.slice(1) };
  if (name === undefined) throw notFound(uri);
  if (word === 'branches' && isRefName(name)) return { revision: { kind: 'branch', name }, path: rest };
  if (word === 'tags' && isRefName(name)) return { revision: { kind: 'tag', name }, path: rest };
  if (word === 'commits' && isHash(name)) return { revision: { kind: 'commit', oid: name }, path: rest };
  throw notFound(uri);
}

/** Whether git could have a branch or tag of that name, by its own rules: no expression of revisions passes them. */
export const isRefName = (name: string): boolean =>
  name.length > 0 &&
  name.length <= 4_096 &&
  name !== '@' &&
  !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$/.test(name) &&
  name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));

/** The one URI of an address. */
export function uriOf(address: Address): string {
  switch (address.kind) {
    case 'root':
      return treeUri(SCHEME, []);
    case 'branches':
    case 'tags':
    case 'commits':
      return treeUri(SCHEME, [address.kind]);
    case 'commit':
      return treeUri(SCHEME, ['commit', ...revisionSegments(address.revision)]);
    case 'compare':
      return treeUri(SCHEME, [
        'compare',
        ...revisionSegments(address.base),
        ...revisionSegments(address.revision),
        ...address.path.map(segmentOf),
      ]);
    case 'tree':
    case 'log':
    case 'blame':
    case 'diff':
      return treeUri(SCHEME, [
        ...(address.kind === 'tree' ? [] : [address.kind]),
        ...revisionSegments(address.revision),
        ...address.path.map(segmentOf),
      ]);
  }
}

function revisionSegments(revision: Revision): readonly string[] {
  switch (revision.kind) {
    case 'head':
      return ['HEAD'];
    case 'branch':
      return ['branches', segmentOf(revision.name)];
    case 'tag':
      return ['tags', segmentOf(revision.name)];
    case 'commit':
      return ['commits', revision.oid];
  }
}

/** A link to an address that holds wherever the repository is mounted: a reference to be resolved, RFC 3986 section 4.2. */
export const linkTo = ({ base }: { readonly base: string }, address: Address): string =>
  base + uriOf(address).slice(`${SCHEME}://`.length);

/** The path of the files that an address below the root shows; empty for none in particular, undefined for no address. */
export function pathBelow(segments: readonly string[]): readonly string[] | undefined {
  try {
    const { address } = parseUri(treeUri(SCHEME, segments));
    return 'path' in address ? address.path.map(toShown) : [];
  } catch (error) {
    if (error instanceof ResourceError) return undefined;
    throw error;
  }
}
