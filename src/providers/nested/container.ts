/** Finds the file that a URI leads into, and what it is called from inside. */
import { notFound, ResourceError } from '../../core/errors.ts';
import type { Rename } from '../../core/renamed.ts';
import { parseTreeUri, splitUri, treeUri } from '../../core/uri.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import type { NestedKind, Outer, Place } from './kind.ts';

export interface Container {
  readonly kind: NestedKind;
  readonly place: Place;
  /** Its own URI, in the provider around it. */
  readonly uri: string;
  readonly segments: readonly string[];
  /** The rest of the requested URI, below `scheme:///`. Empty: the container itself. */
  readonly rest: string;
}

/** The kind of something by its name. */
export const kindOfName = (kinds: readonly NestedKind[], name: string | undefined): NestedKind | undefined =>
  name === undefined ? undefined : kinds.find(({ endings }) => endings.some((ending) => endsWith(name, ending)));

const endsWith = (name: string, ending: string): boolean =>
  name.length > ending.length && name.slice(-ending.length).toLowerCase() === ending;

/** Whether a file of this name is one in fact, as far as its beginning says. */
export async function isReally({ magic }: NestedKind, place: Place): Promise<boolean> {
  if (magic === undefined) return true;
  if (place.size < magic.byteLength) return false;
  // A file that changes meanwhile may be one: whoever opens it sees.
  const handle = await place.open().catch(() => undefined);
  if (handle === undefined) return true;
  try {
    const start = Buffer.alloc(magic.byteLength);
    const read = await handle.read(start, 0, start.byteLength, 0);
    return read === magic.byteLength && start.equals(magic);
  } finally {
    await handle.close();
  }
}

/** Whether what is in a container is shown, as a file of that name is. */
export async function isShownIn(outer: Outer, { kind }: Container, { uri, mimeType }: ShownResource): Promise<boolean> {
  if (!kind.hasFiles || outer.shows === undefined) return true;
  return await outer.shows(parseTreeUri(uri, outer.scheme).segments, mimeType === DIRECTORY_MIME_TYPE);
}

type ShownResource = Pick<Resource, 'uri' | 'mimeType'>;

/**
 * The container of a URI, which may be the container itself; undefined of what lies in none.
 * @throws ResourceError `not-found` for what is not shown in it
 */
export async function containerOf(
  outer: Outer,
  kinds: readonly NestedKind[],
  uri: string,
): Promise<Container | undefined> {
  const parsed = parsedIn(outer, uri);
  if (parsed === undefined) return undefined;
  const { segments, query } = parsed;
  for (let at = 1; at <= segments.length; at++) {
    const kind = kindOfName(kinds, segments[at - 1]);
    if (kind === undefined) continue;
    const own = segments.slice(0, at);
    const place = await outer.place(own);
    if (place === undefined || !(await isReally(kind, place))) continue;
    const inner = segments.slice(at);
    const { shows } = outer;
    if (kind.hasFiles && inner.length > 0 && shows !== undefined)
      if (!(await shows(segments, false)) && !(await shows(segments, true))) throw notFound(uri);
    const rest = treeUri('x', inner).slice('x:///'.length);
    const slash = parsed.trailingSlash && inner.length > 0 ? '/' : '';
    return { kind, place, uri: treeUri(outer.scheme, own), segments: own, rest: rest + slash + query };
  }
  return undefined;
}

function parsedIn({ scheme }: Outer, uri: string) {
  try {
    const { query } = splitUri(uri);
    const path = query === undefined ? uri : uri.slice(0, uri.indexOf('?'));
    return { ...parseTreeUri(path, scheme), query: query === undefined ? '' : `?${query}` };
  } catch (error) {
    // The provider around says what is wrong with it.
    if (error instanceof ResourceError) return undefined;
    throw error;
  }
}

/** From a URI inside of a container to the one by which others know it. */
export const outwards =
  ({ uri: container }: Pick<Container, 'uri'>, scheme: string): Rename =>
  (native) => {
    const root = `${scheme}:///`;
    if (!native.startsWith(root)) return native;
    return native === root ? container : `${container}/${native.slice(root.length)}`;
  };
