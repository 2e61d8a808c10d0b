/**
 * Opens files so that the checked file is the opened one (SEC-RES-1). It opens a path first, and then checks the location of the
 * descriptor, not the path. A descriptor stays with its file, so a link that is swapped in meanwhile makes no difference. On
 * Linux, the kernel gives the location in `/proc/self/fd`, and the first descriptor has no access to the content. Only if the
 * location is below the root, the content is opened, too. Other systems do not give the location, so the canonical path is taken
 * before and after the opening, and the file at that path is compared with the descriptor.
 */
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { notFound, ResourceError } from '../../core/errors.ts';
import { type Disk, POOLED } from './disk.ts';
import { systemCode } from './fault.ts';

export interface Opened {
  readonly handle: Handle;
  readonly stat: BigIntStats;
  /** The names from the root to the real place of the descriptor. They differ from the requested ones if links were followed. */
  readonly segments: readonly string[];
  /** A path to the descriptor that nobody can swap, for operations that only take paths. */
  readonly path: string;
}

export interface Handle {
  /** Reads into the buffer once, and returns how many bytes: 0 at the end of the file, and perhaps fewer than `length` before it. On Linux, fails if the file was opened for `metadata`. */
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<number>;
  /** Closes the descriptor after a read that is under way: otherwise its number could pass to another file meanwhile. */
  close(): Promise<void>;
}

/** `content` needs the permission to read. `metadata` needs it only on systems other than Linux. */
export type OpenFor = 'content' | 'metadata';

const O_PATH = 0o10000000;
/** The suffix that Linux adds to the path of a deleted file or directory. */
const DELETED = ' (deleted)';

const CONTENT_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** How often the opening is tried again if the file or directory is replaced meanwhile. */
const MAX_REPLACEMENTS = 20;

const hasProcFd = process.platform === 'linux' && canReadProcFd();

function canReadProcFd(): boolean {
  try {
    readlinkSync('/proc/self/fd/0');
    return true;
  } catch {
    return false;
  }
}

/**
 * Opens the file or directory at `segments` below `root`, following links as long as they stay below it.
 * @param root a canonical path
 * @throws a system error, or ResourceError `not-found` when the path leads out of the root, `unavailable` when the file or
 *   directory is replaced all the time
 */
export async function openBeneath(
  root: string,
  segments: readonly string[],
  use: OpenFor,
  uri: string,
  disk: Disk = POOLED,
): Promise<Opened> {
  const path = join(root, ...segments);
  if (!hasProcFd) return openCompared(root, path, uri);
  for (let attempt = 0; attempt <= MAX_REPLACEMENTS; attempt++) {
    const opened = await openLocated(root, path, uri, disk);
    if (opened !== undefined) return use === 'content' ? readable(opened, disk) : opened;
  }
  throw new ResourceError('unavailable', 'The resource is being replaced faster than it can be opened; try again', {
    uri,
    cause: notFound(uri),
  });
}

/** Opens a path without access to its content, and asks the kernel for the location; undefined if it was deleted meanwhile. */
async function openLocated(root: string, path: string, uri: string, disk: Disk): Promise<Opened | undefined> {
  const handle = handleOf(await openPath(path, uri, disk), disk);
  try {
    const stats = await disk.fstat(handle.descriptor);
    const link = `/proc/self/fd/${handle.descriptor}`;
    const real = readlinkSync(link);
    if (stats.nlink > 0n && !isGone(real, stats)) {
      return { handle, stat: stats, segments: beneath(root, real, uri), path: link };
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/** The values that tell one state of one file from another. */
export type Identity = Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;

/**
 * Looks synchronously at the file or directory at a canonical path. Undefined if there is none, if the path leads through a
 * link, or on systems other than Linux.
 */
export function lookAt(path: string): Identity | undefined {
  // Such a name cannot be told from the mark of a deleted file.
  if (!hasProcFd || path.endsWith(DELETED)) return undefined;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, O_PATH);
    const stats = fstatSync(descriptor, { bigint: true });
    return (stats.isFile() || stats.isDirectory()) && readlinkSync(`/proc/self/fd/${descriptor}`) === path
      ? stats
      : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export const isSamePath = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index]);

/** Reads from a position of a file until the buffer is full or the file ends. Returns how many bytes were read. */
export async function fill(handle: Handle, buffer: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.byteLength) {
    const bytesRead = await handle.read(buffer, filled, buffer.byteLength - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

async function openPath(path: string, uri: string, disk: Disk): Promise<number> {
  try {
    return await disk.open(path, O_PATH);
  } catch (error) {
    // The server may not enter a directory on the way, so it cannot know whether the path exists and stays below the root.
    throw systemCode(error) === 'EACCES' ? notFound(uri, error) : error;
  }
}

function handleOf(descriptor: number, disk: Disk): Handle & { readonly descriptor: number } {
  let closed = false;
  let reading: Promise<unknown> = Promise.resolve();
  return {
    descriptor,
    async read(buffer, offset, length, position) {
      if (closed) throw new Error('The file was read after it was closed');
      const bytes = disk.read(descriptor, buffer, offset, length, position);
      if (typeof bytes !== 'number') reading = bytes.catch(() => {});
      return bytes;
    },
    async close() {
      if (closed) return;
      closed = true;
      await reading;
      closeSync(descriptor);
    },
  };
}

/** Whether the kernel has marked the path as deleted. The name of an existing file may end like the mark, so that is checked. */
function isGone(real: string, { dev, ino }: BigIntStats): boolean {
  if (!real.endsWith(DELETED)) return false;
  const existing = lstatSync(real, { bigint: true, throwIfNoEntry: false });
  return existing?.ino !== ino || existing.dev !== dev;
}

/**
 * Opens for its content a file or directory that was opened for `metadata`, and closes the old descriptor. Returns anything
 * else, such as a device, as it is: merely opening a device for its content can start it.
 * @throws a system error
 */
export async function readable(located: Opened, disk: Disk): Promise<Opened> {
  if (!hasProcFd || (!located.stat.isFile() && !located.stat.isDirectory())) return located;
  try {
    const handle = handleOf(await disk.open(located.path, CONTENT_FLAGS), disk);
    return { ...located, handle, path: `/proc/self/fd/${handle.descriptor}` };
  } finally {
    await located.handle.close();
  }
}

async function openCompared(root: string, path: string, uri: string): Promise<Opened> {
  const before = beneath(root, await realpath(path), uri);
  const handle = handleOf(await POOLED.open(path, CONTENT_FLAGS), POOLED);
  try {
    const stats = await POOLED.fstat(handle.descriptor);
    const real = await realpath(path);
    const after = beneath(root, real, uri);
    const existing = await stat(real, { bigint: true });
    const same = existing.dev === stats.dev && existing.ino === stats.ino && before.join(sep) === after.join(sep);
    if (!same) throw notFound(uri);
    return { handle, stat: stats, segments: after, path: real };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Returns the names from the root to a canonical path. @throws ResourceError `not-found` if it does not lie below the root */
function beneath(root: string, real: string, uri: string): readonly string[] {
  if (real === root) return [];
  const base = root.endsWith(sep) ? root : root + sep;
  if (!real.startsWith(base)) throw notFound(uri);
  return real.slice(base.length).split(sep);
}
