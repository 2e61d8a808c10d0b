/**
 * Opens what it checked (SEC-RES-1). A path is opened first, and then the opened descriptor, not the path, is asked
 * where it lies: a link that was swapped in before, between or after makes no difference, because the descriptor can no
 * longer change. On Linux the kernel answers, in `/proc/self/fd`, and the first descriptor is one that touches nothing:
 * only what lies below the root, and is a file or a directory, is opened for its content. Elsewhere the canonical path is
 * taken before and after, and the file behind it is compared with the descriptor.
 */
import { type BigIntStats, closeSync, constants, fstat, lstatSync, open as openFd, readlinkSync } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import { notFound, ResourceError } from '../../core/errors.ts';
import { systemCode } from './fault.ts';

const openDescriptor = promisify(openFd);
const statDescriptor = promisify(fstat);

export interface Opened {
  readonly handle: Handle;
  readonly stat: BigIntStats;
  /** Names from the root to where the descriptor really lies; differs from what was asked where links were followed. */
  readonly segments: readonly string[];
  /** A path to the descriptor that nobody can swap, for operations that only take paths. */
  readonly path: string;
}

/** What was opened for `metadata` cannot be read. */
export type Handle = Pick<FileHandle, 'read' | 'close'>;

/** `content` needs the right to read; `metadata` does not, where the system can do without. */
export type OpenFor = 'content' | 'metadata';

const O_PATH = 0o10000000;
/** What Linux puts behind the path of what has been deleted. */
const DELETED = ' (deleted)';

const CONTENT_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** What is replaced while it is opened is opened anew, this many times. */
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
): Promise<Opened> {
  const path = join(root, ...segments);
  if (!hasProcFd) return openCompared(root, path, uri);
  for (let attempt = 0; attempt <= MAX_REPLACEMENTS; attempt++) {
    const opened = await openAsked(root, path, uri);
    if (opened !== undefined) return use === 'content' ? readable(opened) : opened;
  }
  throw new ResourceError('unavailable', 'The resource is being replaced faster than it can be opened; try again', {
    uri,
  });
}

/** Opens without any right to the content, and asks the kernel where that lies; undefined when it has no name left. */
async function openAsked(root: string, path: string, uri: string): Promise<Opened | undefined> {
  const descriptor = await openDescriptor(path, O_PATH).catch((error: unknown) => {
    // A directory on the way may not be entered: whether it holds anything, and lies below the root, cannot be known.
    throw systemCode(error) === 'EACCES' ? notFound(uri, error) : error;
  });
  const handle = handleOf(descriptor);
  try {
    const stats = await statDescriptor(descriptor, { bigint: true });
    const where = `/proc/self/fd/${descriptor}`;
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

/** A descriptor without content: closing it has nothing to wait for. */
function handleOf(descriptor: number): Handle {
  let closed = false;
  return {
    read: () => Promise.reject(new Error('It was opened for metadata')),
    async close() {
      if (!closed) closeSync(descriptor);
      closed = true;
    },
  };
}

/** The kernel marks a path that is no longer one; a name may end like the mark. */
function isGone(real: string, { dev, ino }: BigIntStats): boolean {
  if (!real.endsWith(DELETED)) return false;
  const there = lstatSync(real, { bigint: true, throwIfNoEntry: false });
  return there?.ino !== ino || there.dev !== dev;
}

/** The same file or directory, opened for its content. Nothing else is: opening alone can start a device. */
async function readable(asked: Opened): Promise<Opened> {
  if (!asked.stat.isFile() && !asked.stat.isDirectory()) return asked;
  try {
    const handle = await open(asked.path, CONTENT_FLAGS);
    return { ...asked, handle, path: `/proc/self/fd/${handle.fd}` };
  } finally {
    await asked.handle.close();
  }
}

async function openCompared(root: string, path: string, uri: string): Promise<Opened> {
  const before = beneath(root, await realpath(path), uri);
  const handle = await open(path, CONTENT_FLAGS);
  try {
    const stats = await handle.stat({ bigint: true });
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
