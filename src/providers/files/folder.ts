/** One served folder: the state and the functions that lists, reads, watches, searches and completions share. */
import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { notFound, ResourceError } from '../../core/errors.ts';
import { mimeTypeOfName } from '../../core/formats/mime-type.ts';
import { parseTreeUri, treeUri } from '../../core/uri.ts';
import { DIRECTORY_MIME_TYPE, NAMES, type Resource } from '../../protocol/resources.ts';
import type { Disk } from './disk.ts';
import { faultOf } from './fault.ts';
import type { KeptPages } from './kept-pages.ts';
import { isSamePath, type Opened, type OpenFor, openBeneath } from './open.ts';
import type { Snapshots } from './snapshots.ts';
import type { Visibility } from './visibility.ts';

export const SCHEME = 'file';

export interface Folder {
  /** Canonical path on this machine; never leaves the provider. */
  readonly root: string;
  /** The name of the root. */
  readonly name: string;
  readonly disk: Disk;
  /** The device of the root when the provider started. */
  readonly device: bigint;
  readonly symlinks: boolean;
  readonly watchable: boolean;
  readonly visibility: Visibility;
  readonly snapshots: Snapshots;
  readonly kept: KeptPages;
  /** Called with each directory that is listed again. */
  readonly listed: (segments: readonly string[]) => void;
}

/** A resource that was found: the opened file or directory, and its description. */
export interface Found {
  readonly opened: Opened;
  /** The names in the URI. They differ from the real path when links were followed. */
  readonly segments: readonly string[];
  readonly isDirectory: boolean;
  readonly resource: Resource;
  /** Closes the file or directory; safe to call twice. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Finds the file or directory that a URI names.
 * @throws ResourceError `not-found` when it is missing, hidden or outside the folder, or is neither a file nor a directory;
 *   `denied` when it may not be read; `unavailable` when the folder itself is missing, or the file system does not answer
 */
export async function find(folder: Folder, uri: string, use: OpenFor): Promise<Found> {
  const { segments, trailingSlash } = parseTreeUri(uri, SCHEME);
  const found = await findSegments(folder, segments, use, uri);
  if (trailingSlash && !found.isDirectory) {
    await found[Symbol.asyncDispose]();
    throw notFound(uri);
  }
  return found;
}

export async function findSegments(
  folder: Folder,
  segments: readonly string[],
  use: OpenFor,
  uri: string,
): Promise<Found> {
  let opened: Opened | undefined;
  try {
    opened = await openBeneath(folder.root, segments, use, uri, folder.disk);
    const isDirectory = opened.stat.isDirectory();
    if (!isDirectory && !opened.stat.isFile()) throw notFound(uri);
    if (!(await isShown(folder, segments, opened, isDirectory))) throw notFound(uri);
    const resource = resourceOf(folder, segments, opened.stat, opened.segments);
    return { opened, segments, isDirectory, resource, [Symbol.asyncDispose]: () => closeOf(opened) };
  } catch (error) {
    await closeOf(opened);
    // A hidden name that cannot be opened must look like a missing one.
    const fault = faultOf(error, uri);
    if (
      fault instanceof ResourceError &&
      fault.code === 'denied' &&
      !(await folder.visibility.shows(segments, false))
    ) {
      throw notFound(uri, error);
    }
    if (fault instanceof ResourceError && fault.code === 'not-found' && (await isAway(folder, segments))) {
      throw new ResourceError('unavailable', 'The folder of this mount is missing at the moment', {
        uri,
        cause: error,
      });
    }
    throw fault;
  }
}

/** Whether the root itself is missing. Then a missing path below it does not mean that the file was deleted. */
async function isAway({ root }: Folder, segments: readonly string[]): Promise<boolean> {
  return segments.length === 0 || (await stat(root).catch(() => undefined))?.isDirectory() !== true;
}

async function closeOf(opened: Opened | undefined): Promise<void> {
  await opened?.handle.close();
}

/** Whether the rules show both the path in the URI and the target of its links, and no link leads in a circle. */
async function isShown(
  folder: Folder,
  segments: readonly string[],
  opened: Opened,
  isDirectory: boolean,
): Promise<boolean> {
  if (!(await folder.visibility.shows(segments, isDirectory))) return false;
  if (isSamePath(opened.segments, segments)) return true;
  if (!folder.symlinks) return false;
  if (!(await folder.visibility.shows(opened.segments, isDirectory))) return false;
  return !(await leadsInCircle(folder, segments, opened, isDirectory));
}

/** Whether the file lies at the path in its URI, with no link on the way. */
export const isDirect = ({ opened, segments }: Pick<Found, 'opened' | 'segments'>): boolean =>
  isSamePath(opened.segments, segments);

/** Whether a path with links passes one directory twice, so that it could be made longer without end. */
async function leadsInCircle(
  folder: Folder,
  segments: readonly string[],
  opened: Opened,
  isDirectory: boolean,
): Promise<boolean> {
  const seen = new Set(isDirectory ? [identityOf(opened)] : []);
  for (let depth = 0; depth < segments.length; depth++) {
    const ancestor = await openBeneath(folder.root, segments.slice(0, depth), 'metadata', '', folder.disk);
    await ancestor.handle.close();
    const identity = identityOf(ancestor);
    if (seen.has(identity)) return true;
    seen.add(identity);
  }
  return false;
}

const identityOf = ({ stat }: Opened): string => `${stat.dev}:${stat.ino}`;

/** Describes a file or directory, the same in lists, metadata and reads. @param real its path without links */
export function resourceOf(
  folder: Folder,
  segments: readonly string[],
  stats: BigIntStats,
  real: readonly string[],
): Resource {
  const isDirectory = stats.isDirectory();
  const name = segments.at(-1) ?? folder.name;
  const mimeType = isDirectory ? DIRECTORY_MIME_TYPE : mimeTypeOfName(name);
  return {
    uri: treeUri(SCHEME, segments),
    name,
    ...(mimeType !== undefined && { mimeType }),
    ...(!isDirectory && { size: Number(stats.size) }),
    annotations: { lastModified: isoTime(stats.mtimeMs) },
    capabilities: { list: isDirectory, subscribe: folder.watchable },
    // The target of a link has another name, and rules may hide that name.
    ...(!isSamePath(real, segments) && { [NAMES]: { leadsTo: [treeUri(SCHEME, real)] } }),
  };
}

/** Writes a time as ISO 8601 with milliseconds. A time that a `Date` cannot hold becomes the beginning of 1970. */
function isoTime(mtimeMs: bigint): string {
  const date = new Date(Number(mtimeMs));
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString();
}
