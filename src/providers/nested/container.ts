/** Finds the container (an archive, a database, a repository) that a URI leads into, and the URI within it. */
import { notFound, ResourceError } from '../../core/errors.ts';
import type { Rename } from '../../core/mounts/renamed.ts';
import { parseTreeUri, splitUri, treeUri } from '../../core/uri.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import type { FileKind, FilePlace, FolderKind, FolderPlace, NestedKind, Outer } from './kind.ts';

interface Located {
  /** The URI of the container itself, in the outer provider. */
  readonly uri: string;
  readonly segments: readonly string[];
  /** The part of the requested URI after the container, without the first slash. Empty for the container itself. */
  readonly rest: string;
}

export type FileContainer = Located & { readonly kind: FileKind; readonly place: FilePlace };
export type FolderContainer = Located & { readonly kind: FolderKind; readonly place: FolderPlace };
export type Container = FileContainer | FolderContainer;

export const isFolder = (container: Container): container is FolderContainer => container.kind.isFolder === true;

/** Finds the kind of a file or folder by its name. */
export const kindOfName = (kinds: readonly NestedKind[], name: string | undefined): NestedKind | undefined =>
  name === undefined
    ? undefined
    : kinds.find(
        (kind) =>
          (kind.isFolder && kind.nameInParent === name) || kind.endings.some((ending) => endsWith(name, ending)),
      );

const endsWith = (name: string, ending: string): boolean =>
  name.length > ending.length && name.slice(-ending.length).toLowerCase() === ending;

/** Whether the first bytes of a file confirm the kind that its name claims. */
export async function isReally({ magic }: FileKind, place: FilePlace): Promise<boolean> {
  if (magic === undefined) return true;
  if (place.size < magic.byteLength) return false;
  // A file that cannot be opened now may still be of its kind. Opening it as a container will show that.
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

/** Whether the rules for names show a resource in a container. Resources that stand for no file are always shown. */
export async function isShownIn(outer: Outer, container: Container, { uri, mimeType }: ShownResource) {
  const { segments } = parseTreeUri(uri, outer.scheme);
  const path = fileAt(container.kind, segments, container.segments.length);
  return path === undefined || (await outer.shows?.(path, mimeType === DIRECTORY_MIME_TYPE)) !== false;
}

type ShownResource = Pick<Resource, 'uri' | 'mimeType'>;

/**
 * The path whose rules hold for a resource in a container; undefined if the resource stands for no file.
 * @param depth the number of segments that lead to the container
 */
function fileAt(kind: NestedKind, segments: readonly string[], depth: number): readonly string[] | undefined {
  if (!kind.isFolder) return kind.hasFiles && segments.length > depth ? segments : undefined;
  const below = kind.pathBelow(segments.slice(depth));
  if (below === undefined || below.length === 0) return undefined;
  const isPartOfParent = segments[depth - 1] === kind.nameInParent;
  return [...segments.slice(0, isPartOfParent ? depth - 1 : depth), ...below];
}

/**
 * Returns the URI whose rules also hold for a URI in a folder container: that of the working file beside `.git`, or, in a bare
 * repository, that of the path without the revision. Judges by the names in the URI alone, and does not check that anything exists.
 */
export function filesBeside(outer: Outer, kinds: readonly NestedKind[], uri: string): readonly string[] {
  const { segments = [] } = parsedIn(outer, uri) ?? {};
  return segments.flatMap((name, index) => {
    const kind = kindOfName(kinds, name);
    const path = kind?.isFolder && fileAt(kind, segments, index + 1);
    return path ? [treeUri(outer.scheme, path)] : [];
  });
}

/**
 * Finds the container that a URI names or leads into; undefined if there is none.
 * @throws ResourceError `not-found` if the rules for names hide the file in the container
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
    const containerPath = segments.slice(0, at);
    const found = await placeOf(outer, kind, containerPath);
    if (found === undefined) continue;
    const inner = segments.slice(at);
    const file = fileAt(kind, segments, at);
    const { shows } = outer;
    if (file !== undefined && shows !== undefined)
      if (!(await shows(file, false)) && !(await shows(file, true))) throw notFound(uri);
    const rest = treeUri('x', inner).slice('x:///'.length);
    const slash = parsed.trailingSlash && inner.length > 0 ? '/' : '';
    const containerUri = treeUri(outer.scheme, containerPath);
    return { ...found, uri: containerUri, segments: containerPath, rest: rest + slash + query };
  }
  return undefined;
}

/**
 * Whether a resource of the outer provider lies outside of all folders that are containers. Resources inside of one, such as
 * the files in `.git`, are shown by the container, and not by the outer provider.
 */
export async function isBesideFolders(outer: Outer, kinds: readonly NestedKind[], uri: string): Promise<boolean> {
  const { segments = [] } = parsedIn(outer, uri) ?? {};
  for (let at = 1; at < segments.length; at++) {
    const kind = kindOfName(kinds, segments[at - 1]);
    if (kind?.isFolder && (await placeOf(outer, kind, segments.slice(0, at))) !== undefined) return false;
  }
  return true;
}

/** Finds the file or folder at a path; undefined if it is missing, or not really of this kind. */
async function placeOf(outer: Outer, kind: NestedKind, segments: readonly string[]) {
  if (kind.isFolder) {
    const place = await outer.folder?.(segments, kind.has);
    return place === undefined || place === 'unfinished' ? undefined : { kind, place };
  }
  const place = await outer.place(segments);
  return place !== undefined && (await isReally(kind, place)) ? { kind, place } : undefined;
}

function parsedIn({ scheme }: Outer, uri: string) {
  try {
    const { query } = splitUri(uri);
    const path = query === undefined ? uri : uri.slice(0, uri.indexOf('?'));
    return { ...parseTreeUri(path, scheme), query: query === undefined ? '' : `?${query}` };
  } catch (error) {
    // The outer provider reports the error in the URI.
    if (error instanceof ResourceError) return undefined;
    throw error;
  }
}

/** Makes the function that turns a URI of the inner provider into the URI that clients use. */
export const outwards =
  ({ uri: container }: Pick<Container, 'uri'>, scheme: string): Rename =>
  (native) => {
    const root = `${scheme}:///`;
    if (!native.startsWith(root)) return native;
    return native === root ? container : `${container}/${native.slice(root.length)}`;
  };
