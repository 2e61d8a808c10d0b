/**
 * Whether a file that was read, or a directory that was listed, is still what it was, without reading it. It is opened and
 * asked where it lies, as at the first time (`open.ts`), and has to be the same with the same size and times. Where that
 * does not say enough, it is not: for what lies on another file system than the root, or one that is not of this machine,
 * behind a link, under rules that can change, and for what was changed a moment before it was read.
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
import type { SortedNames } from './sorted-names.ts';

/**
 * How long something has to have been left alone when it was read, in milliseconds. Its times are those of a clock that
 * goes by ticks, of 10 ms at most: what is written twice within one has the same times after both.
 */
const SETTLED_MS = 50;

type Bodies = readonly ResourceBody[];

/** A path, and the state of the file or directory that lay there. */
interface Seen extends Identity {
  readonly path: string;
}

/** The file, or the window of it, that a read was made of. */
interface SeenFile extends Seen {
  readonly uri: string;
  readonly range: ByteRange | undefined;
}

const seenFiles = new WeakMap<Bodies, SeenFile>();

/** The directory that a page was made of. */
interface SeenDirectory extends Seen {
  readonly uri: string | undefined;
  readonly want: Page;
  /** The page as it is kept; undefined of the roots, of which nothing is kept. */
  readonly kept: (PageKey & { readonly names: SortedNames }) | undefined;
}

const seenDirectories = new WeakMap<ResourcePage, SeenDirectory>();

/** Whether its times tell of the next change. A time in the future means that the clock was set back. */
function isSettled({ disk, device }: Folder, { opened }: Found, before: number): boolean {
  const { dev, mtimeMs, ctimeMs } = opened.stat;
  return disk === DIRECT && dev === device && before - Number(mtimeMs > ctimeMs ? mtimeMs : ctimeMs) >= SETTLED_MS;
}

/** Returns the state of what was found, if a second look can prove it the same. @param before when it was about to be opened */
function seenAs(folder: Folder, found: Found, before: number): Seen | undefined {
  const { opened, segments } = found;
  const { dev, ino, size, mtimeNs, ctimeNs } = opened.stat;
  if (folder.visibility.ruleFile !== undefined || !isSamePath(opened.segments, segments)) return undefined;
  if (!isSettled(folder, found, before)) return undefined;
  return { path: join(folder.root, ...segments), dev, ino, size, mtimeNs, ctimeNs };
}

/**
 * The version of an opened file: a weak one, out of its identity, size and times. Undefined where these do not tell of each
 * change, and for an empty file, which may be one of the kernel's.
 * @param before when it was about to be opened, in milliseconds since 1970
 */
export function versionOfFile(folder: Folder, found: Found, before: number): string | undefined {
  const { dev, ino, size, mtimeNs, ctimeNs } = found.opened.stat;
  if (size === 0n || !isSettled(folder, found, before)) return undefined;
  return versionFrom([dev, ino, size, mtimeNs, ctimeNs].map(String), true);
}

function isStill(was: Seen): boolean {
  const is = lookAt(was.path);
  return (
    is !== undefined &&
    is.ctimeNs === was.ctimeNs &&
    is.mtimeNs === was.mtimeNs &&
    is.size === was.size &&
    is.ino === was.ino &&
    is.dev === was.dev
  );
}

/**
 * Remembers what a file, or a window of it, was read from, where that can be said again.
 * @param before when it was about to be opened, in milliseconds since 1970
 */
export function remembered(
  folder: Folder,
  found: Found,
  bodies: Bodies,
  { before, ...of }: Pick<SeenFile, 'uri' | 'range'> & { readonly before: number },
): Bodies {
  const size = Number(found.opened.stat.size);
  const [body] = bodies;
  // The files of the kernel are empty, and are not.
  if (body?.content.kind !== 'bytes' || size === 0) return bodies;
  const { offset = 0, length = size } = of.range ?? {};
  if (body.content.bytes.byteLength !== Math.min(length, size - offset)) return bodies;
  const seen = seenAs(folder, found, before);
  if (seen === undefined) return bodies;
  seenFiles.set(bodies, { ...seen, ...of });
  return markRepeatable(bodies);
}

/**
 * Remembers of which directory a page is that is kept, or the page of the roots.
 * @param before as with a file
 */
export function rememberedPage(
  folder: Folder,
  page: ResourcePage,
  directory: Found,
  { before, ...of }: Pick<SeenDirectory, 'uri' | 'want' | 'kept'> & { readonly before: number },
): ResourcePage {
  if (seenDirectories.has(page)) return page;
  const seen = seenAs(folder, directory, before);
  if (seen === undefined) return page;
  seenDirectories.set(page, { ...seen, ...of });
  return markRepeatable(page);
}

/** Whether a read, or a list, of a folder would give the same again. */
export const againIn = (folder: Folder): AgainMethods => ({
  again(bodies: Bodies, uri: string, { range }: ReadOptions) {
    const was = seenFiles.get(bodies);
    return was?.uri === uri && (was.range === range || isSameRange(was.range, range)) && isStill(was);
  },
  listAgain(page, uri, { cursor, limit }) {
    const was = seenDirectories.get(page);
    if (was === undefined || was.uri !== uri || was.want.cursor !== cursor || was.want.limit !== limit) return false;
    const { kept } = was;
    return (kept === undefined || folder.kept.fresh(kept, kept.names) === page) && isStill(was);
  },
});
