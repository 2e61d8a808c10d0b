/**
 * Opens what it checked (SEC-RES-1). A path is opened first, and then the opened descriptor, not the path, is asked
 * where it lies: a link that was swapped in before, between or after makes no difference, because the descriptor can no
 * longer change. On Linux the kernel answers, in `/proc/self/fd`, and the first descriptor is one that touches nothing:
 * only what lies below the root, and is a file or a directory, is opened for its content. Elsewhere the canonical path is
 * taken before and after, and the file behind it is compared with the descriptor.
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
  /** Names from the root to where the descriptor really lies; differs from what was asked where links were followed. */
  readonly segments: readonly string[];
  /** A path to the descriptor that nobody can swap, for operations that only take paths. */
  readonly path: string;
}

export interface Handle {
  /** Bytes that were read into the buffer. What was opened for `metadata` cannot be read. */
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<number>;
  /** Closes it, after a read that is under way: the number of a closed descriptor is given to the next file. */
  close(): Promise<void>;
}

/** `content` needs the right to read; `metadata` does not, where the system can do without. */
export type OpenFor = 'content' | 'metadata';

const O_PATH = 0o10000000;
/** The suffix that Linux adds to the path of a deleted file or directory. */
const DELETED = ' (deleted)';

const CONTENT_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** How often a file or directory that is replaced while it is opened is opened anew. */
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
 * @throws a system error, or ResourceError `not-found` when the path leads out of the root, `unavailable` when what it
 *   names is replaced all the time
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
    const opened = await openAsked(root, path, uri, disk);
    if (opened !== undefined) return use === 'content' ? readable(opened, disk) : opened;
  }
  throw new ResourceError('unavailable', 'The resource is being replaced faster than it can be opened; try again', {
    uri,
  });
}

/** Opens without any right to the content, and asks the kernel where that lies; undefined when it has no name left. */
async function openAsked(root: string, path: string, uri: string, disk: Disk): Promise<Opened | undefined> {
  const handle = handleOf(await openPath(path, uri, disk), disk);
  try {
    const stats = await disk.fstat(handle.descriptor);
    const where = `/proc/self/fd/${handle.descriptor}`;
    const real = readlinkSync(where);
    if (stats.nlink > 0n && !isGone(real, stats)) {
      return { handle, stat: stats, segments: beneath(root, real, uri), path: where };
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
 * The file or directory that lies at a canonical path now, looked at as it is before it is read, and at once. Undefined
 * where there is none, where the path leads through a link, and where the kernel does not say.
 */
export function lookAt(path: string): Identity | undefined {
  // A name may end like the mark of what is gone.
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

async function openPath(path: string, uri: string, disk: Disk): Promise<number> {
  try {
    return await disk.open(path, O_PATH);
  } catch (error) {
    // A directory on the way may not be entered: whether it holds anything, and lies below the root, cannot be known.
    throw systemCode(error) === 'EACCES' ? notFound(uri, error) : error;
  }
}

function handleOf(descriptor: number, disk: Disk): Handle & { readonly descriptor: number } {
  let closed = false;
  let reading: Promise<unknown> = Promise.resolve();
  return {
    descriptor,
    async read(buffer, offset, length, position) {
      if (closed) throw new Error('It was read after it was closed');
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

/** The kernel marks a path that is no longer one; a name may end like the mark. */
function isGone(real: string, { dev, ino }: BigIntStats): boolean {
  if (!real.endsWith(DELETED)) return false;
  const there = lstatSync(real, { bigint: true, throwIfNoEntry: false });
  return there?.ino !== ino || there.dev !== dev;
}

/**
 * The same file or directory, opened for its content in place of what was opened for `metadata`. Nothing else is: opening
 * alone can start a device.
 * @throws a system error
 */
export async function readable(asked: Opened, disk: Disk): Promise<Opened> {
  if (!hasProcFd || (!asked.stat.isFile() && !asked.stat.isDirectory())) return asked;
  try {
    const handle = handleOf(await disk.open(asked.path, CONTENT_FLAGS), disk);
    return { ...asked, handle, path: `/proc/self/fd/${handle.descriptor}` };
  } finally {
    await asked.handle.close();
  }
}

async function openCompared(root: string, path: string, uri: string): Promise<Opened> {
  const before = beneath(root, await realpath(path), uri);
  const handle = handleOf(await POOLED.open(path, CONTENT_FLAGS), POOLED);
  try {
    const stats = await POOLED.fstat(handle.descriptor);
    const real = await realpath(path);
    const after = beneath(root, real, uri);
    const there = await stat(real, { bigint: true });
    const same = there.dev === stats.dev && there.ino === stats.ino && before.join(sep) === after.join(sep);
    if (!same) throw notFound(uri);
    return { handle, stat: stats, segments: after, path: real };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The names from the root to a canonical path, which must lie below the root: compared name by name, not by prefix. */
function beneath(root: string, real: string, uri: string): readonly string[] {
  if (real === root) return [];
  const base = root.endsWith(sep) ? root : root + sep;
  if (!real.startsWith(base)) throw notFound(uri);
  return real.slice(base.length).split(sep);
}
