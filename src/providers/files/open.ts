/**
 * Opens what it checked (SEC-RES-1). A path is opened first, and then the opened descriptor, not the path, is asked
 * where it lies: a link that was swapped in before, between or after makes no difference, because the descriptor can no
 * longer change. On Linux the kernel answers, in `/proc/self/fd`. Elsewhere the canonical path is taken before and after,
 * and the file behind it is compared with the descriptor.
 */
import { type BigIntStats, constants, readlinkSync } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { notFound } from '../../core/errors.ts';

export interface Opened {
  readonly handle: FileHandle;
  readonly stat: BigIntStats;
  /** Names from the root to where the descriptor really lies; differs from what was asked where links were followed. */
  readonly segments: readonly string[];
  /** A path to the descriptor that nobody can swap, for operations that only take paths. */
  readonly path: string;
}

/** `content` needs the right to read; `metadata` does not, where the system can do without. */
export type OpenFor = 'content' | 'metadata';

const O_PATH = 0o10000000;
const CONTENT_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** A file that is replaced while it is opened is opened anew, this many times. */
const MAX_REPLACEMENTS = 5;

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
 * @throws a system error, or ResourceError `not-found` when the path leads out of the root
 */
export async function openBeneath(
  root: string,
  segments: readonly string[],
  use: OpenFor,
  uri: string,
): Promise<Opened> {
  for (let attempt = 0; ; attempt++) {
    const opened = await openOnce(root, segments, use, uri);
    // Without a name left it was replaced between opening and looking: the next attempt opens what replaced it.
    if (opened.stat.nlink > 0n || attempt >= MAX_REPLACEMENTS) return opened;
    await opened.handle.close();
  }
}

async function openOnce(root: string, segments: readonly string[], use: OpenFor, uri: string): Promise<Opened> {
  const path = join(root, ...segments);
  const before = hasProcFd ? undefined : beneath(root, await realpath(path), uri);
  const flags = use === 'metadata' && hasProcFd ? O_PATH : CONTENT_FLAGS;
  const handle = await open(path, flags);
  try {
    const stats = await handle.stat({ bigint: true });
    if (hasProcFd) {
      const where = `/proc/self/fd/${handle.fd}`;
      const real = readlinkSync(where);
      return opened(handle, stats, stats.nlink > 0n ? beneath(root, real, uri) : segments, where);
    }
    const real = await realpath(path);
    const after = beneath(root, real, uri);
    const there = await stat(real, { bigint: true });
    const same = there.dev === stats.dev && there.ino === stats.ino && before?.join(sep) === after.join(sep);
    if (!same) throw notFound(uri);
    return opened(handle, stats, after, real);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function opened(handle: FileHandle, stats: BigIntStats, segments: readonly string[], path: string): Opened {
  return { handle, stat: stats, segments, path };
}

/** The names from the root to a canonical path, which must lie below the root: compared name by name, not by prefix. */
function beneath(root: string, real: string, uri: string): readonly string[] {
  if (real === root) return [];
  const base = root.endsWith(sep) ? root : root + sep;
  if (!real.startsWith(base)) throw notFound(uri);
  return real.slice(base.length).split(sep);
}
