/**
 * Parses the URIs of a repository into addresses, and writes the one URI of each address.
 *
 * A revision is `HEAD`, `branches/<name>`, `tags/<name>` or `commits/<hash>`: one or two segments. A slash in the name
 * of a branch or tag is written `~2F`. In a URI that begins with a revision, the rest is a path in its tree. A URI of a
 * view begins with the name of the view, such as `log`, so that no file name can be mistaken for it.
 */
import { invalid, notFound, ResourceError } from '../../core/errors.ts';
import { parseTreeUri, treeUri } from '../../core/uri.ts';
import { nameOf, segmentOf, toShown } from './names.ts';

export const SCHEME = 'git';

/** The most names in a path. */
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
  /** The document of a commit: its message and its changes. */
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

/** @throws ResourceError `invalid` for a URI that is not of a repository, `not-found` for an unknown view or invalid revision */
export function parseUri(uri: string): ParsedUri {
  const { segments, trailingSlash } = parseTreeUri(uri, SCHEME);
  if (segments.length > MAX_DEPTH) throw invalid(`A path has at most ${MAX_DEPTH} names`, uri);
  const names = segments.map((segment) => {
    const name = nameOf(segment);
    if (name === undefined)
      throw invalid(
        'A name is not spelled as in lists, where ~ and two digits stand for a byte, as ~2F for a slash',
        uri,
      );
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

/** Whether git allows a branch or tag of that name. Expressions such as `a..b` or `a@{1}` are not names. */
export const isRefName = (name: string): boolean =>
  name.length > 0 &&
  name.length <= 4_096 &&
  name !== '@' &&
  !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$/.test(name) &&
  name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));

/** Returns the one URI of an address. */
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

/** Writes a relative reference (RFC 3986 section 4.2) to an address, which holds wherever the repository is mounted. */
export const linkTo = ({ base }: { readonly base: string }, address: Address): string =>
  base + uriOf(address).slice(`${SCHEME}://`.length);

/** Returns the file path of an address; empty for an address without a path, undefined for an invalid one. */
export function pathBelow(segments: readonly string[]): readonly string[] | undefined {
  try {
    const { address } = parseUri(treeUri(SCHEME, segments));
    return 'path' in address ? address.path.map(toShown) : [];
  } catch (error) {
    if (error instanceof ResourceError) return undefined;
    throw error;
  }
}
