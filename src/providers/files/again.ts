/**
 * Tells whether a file that was read, or a directory that was listed, is unchanged, without reading it again. The path is opened
 * in the same way (`open.ts`), and has to lead to the same file with the same size and times. The answer is always no where that
 * proves nothing: on another file system than the root's, on one that is not local, behind a link, under `.gitignore` rules, and
 * if the file was changed a moment before it was read. It is also no for content that was read as a stream.
 */
import { join } from 'node:path';
import { type AgainMethods, isSameRange, markRepeatable } from '../../core/again.ts';
import type { ResourceBody } from '../../core/body.ts';
import { versionFrom } from '../../core/content-version.ts';
import type { ByteRange, Page, ReadOptions, ResourcePage } from '../../core/provider.ts';
import { DIRECT } from './disk.ts';
import type { Folder, Found } from './folder.ts';
import type { PageKey } from './kept-pages.ts';
import { type Identity, isSamePath, lookAt } from './open.ts';
import { isSettled } from './settled.ts';
import type { SortedNames } from './sorted-names.ts';

type Bodies = readonly ResourceBody[];

/** A path, and the state of the file or directory that lay there. */
interface Seen extends Identity {
  readonly path: string;
}

/** The file, or the window of it, that a read returned. */
interface SeenFile extends Seen {
  readonly uri: string;
  readonly range: ByteRange | undefined;
}

const seenFiles = new WeakMap<Bodies, SeenFile>();

/** The directory that a page lists. */
interface SeenDirectory extends Seen {
  readonly uri: string | undefined;
  readonly want: Page;
  /** The key of the kept page and the names in it; undefined for the page of the roots, which is not kept. */
  readonly kept: (PageKey & { readonly names: SortedNames }) | undefined;
}

const seenDirectories = new WeakMap<ResourcePage, SeenDirectory>();

/** Whether the next change will show in the times of a file, which must lie on the disk of the root. */
const showsChanges = ({ disk, device }: Folder, { opened }: Found, before: number): boolean =>
  disk === DIRECT && opened.stat.dev === device && isSettled(opened.stat, before);

/**
 * Returns the state of a file or directory, if a later look can prove that it is unchanged.
 * @param before the time just before it was opened, in milliseconds since 1970
 */
function seenAs(folder: Folder, found: Found, before: number): Seen | undefined {
  const { opened, segments } = found;
  const { dev, ino, size, mtimeNs, ctimeNs } = opened.stat;
  if (folder.visibility.ruleFile !== undefined || !isSamePath(opened.segments, segments)) return undefined;
  if (!showsChanges(folder, found, before)) return undefined;
  return { path: join(folder.root, ...segments), dev, ino, size, mtimeNs, ctimeNs };
}

/**
 * Makes the weak version of an opened file from its identity, size and times. Undefined if these need not show each change,
 * or if the size is 0, as for files of the kernel that do have content.
 * @param before the time just before it was opened, in milliseconds since 1970
 */
export function versionOfFile(folder: Folder, found: Found, before: number): string | undefined {
  const { dev, ino, size, mtimeNs, ctimeNs } = found.opened.stat;
  if (size === 0n || !showsChanges(folder, found, before)) return undefined;
  return versionFrom([dev, ino, size, mtimeNs, ctimeNs].map(String), true);
}

function isUnchanged(seen: Seen): boolean {
  const now = lookAt(seen.path);
  return (
    now !== undefined &&
    now.ctimeNs === seen.ctimeNs &&
    now.mtimeNs === seen.mtimeNs &&
    now.size === seen.size &&
    now.ino === seen.ino &&
    now.dev === seen.dev
  );
}

/**
 * Remembers which file, or which window of it, the bodies were read from, if a later look can prove that it is unchanged.
 * @param before the time just before it was opened, in milliseconds since 1970
 */
export function remembered(
  folder: Folder,
  found: Found,
  bodies: Bodies,
  { before, ...request }: Pick<SeenFile, 'uri' | 'range'> & { readonly before: number },
): Bodies {
  const size = Number(found.opened.stat.size);
  const [body] = bodies;
  // Files of the kernel have size 0, and may have content nevertheless.
  if (body?.content.kind !== 'bytes' || size === 0) return bodies;
  const { offset = 0, length = size } = request.range ?? {};
  if (body.content.bytes.byteLength !== Math.min(length, size - offset)) return bodies;
  const seen = seenAs(folder, found, before);
  if (seen === undefined) return bodies;
  seenFiles.set(bodies, { ...seen, ...request });
  return markRepeatable(bodies);
}

/**
 * Remembers which directory a page lists, for a kept page or the page of the roots.
 * @param before the time just before the directory was opened, in milliseconds since 1970
 */
export function rememberedPage(
  folder: Folder,
  page: ResourcePage,
  directory: Found,
  { before, ...request }: Pick<SeenDirectory, 'uri' | 'want' | 'kept'> & { readonly before: number },
): ResourcePage {
  if (seenDirectories.has(page)) return page;
  const seen = seenAs(folder, directory, before);
  if (seen === undefined) return page;
  seenDirectories.set(page, { ...seen, ...request });
  return markRepeatable(page);
}

/** Makes the methods that tell whether a read or a list of a folder would return the same again. */
export const againIn = (folder: Folder): AgainMethods => ({
  again(bodies: Bodies, uri: string, { range }: ReadOptions) {
    const seen = seenFiles.get(bodies);
    return seen?.uri === uri && (seen.range === range || isSameRange(seen.range, range)) && isUnchanged(seen);
  },
  listAgain(page, uri, { cursor, limit }) {
    const seen = seenDirectories.get(page);
    if (seen === undefined || seen.uri !== uri || seen.want.cursor !== cursor || seen.want.limit !== limit)
      return false;
    const { kept } = seen;
    return (kept === undefined || folder.kept.fresh(kept, kept.names) === page) && isUnchanged(seen);
  },
});
