/**
 * Lets only one process write an audit file, also across containers and machines: two writers would break its chain.
 * The lock is a file beside it that names its owner, who rewrites it regularly while running.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  write,
  writeSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { invalid } from '../../core/errors.ts';
import { isGone, type Owner, parseOwner, thisProcess } from './owner.ts';

/** How often the owner renews the lock, in milliseconds. */
const BEAT_MS = 4_000;

/** A lock that was not renewed for this long is stale, in milliseconds. */
export const LEASE_MS = 20_000;

/** The most bytes of a lock that are read. */
const MAX_LOCK_BYTES = 4_096;

/** How many times to try a lock that is being released at the same moment. */
const MAX_TRIES = 5;

/** The most links in a row that are followed, as on Linux. */
const MAX_LINKS = 40;

export interface FileLock {
  /**
   * Resolves while this process has the lock; creates it again where it was deleted.
   * @throws ResourceError `invalid` when another process has taken it
   */
  keep(): Promise<void>;
  release(): Promise<void>;
}

const writeAt = promisify(write);

/**
 * Locks a file, and a symbolic link that leads to it: the first rotation puts a file in the place of the link.
 * @throws ResourceError `invalid` when another process, or another server in this one, has the lock or may have it
 */
export function lockFile(file: string): FileLock {
  const place = placeOf(file);
  const target = targetOf(file);
  const held = lockAt(`${target}.lock`, file);
  if (target === place) return held;
  let link: FileLock | undefined;
  try {
    link = lockAt(`${place}.lock`, file);
  } catch (error) {
    // Without permission to write here, this process cannot rotate the file, so the link stays.
    if (!UNWRITABLE.has((error as NodeJS.ErrnoException).code ?? '')) {
      void held.release();
      throw error;
    }
  }
  return {
    async keep() {
      await held.keep();
      await link?.keep();
    },
    async release() {
      await Promise.all([held.release(), link?.release()]);
    },
  };
}

const UNWRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

function lockAt(lock: string, file: string): FileLock {
  let held = take(lock, file);
  let beating: Promise<unknown> | undefined;
  const beat = setInterval(() => {
    // Writing makes the file system set the time, by one clock for all machines that share it.
    beating ??= writeAt(held.fd, held.text, 0, held.text.length, 0)
      .catch(() => {})
      .finally(() => {
        beating = undefined;
      });
  }, BEAT_MS).unref();

  /** Closes the lock after the last write: a closed descriptor may refer to another file when it is written to. */
  async function letGo(): Promise<void> {
    if (beating !== undefined) await beating;
    closeSync(held.fd);
  }
  return {
    async keep() {
      const there = await stat(lock, { bigint: true }).catch(() => undefined);
      if (there !== undefined && isHeld(there, held)) return;
      const next = take(lock, file);
      await letGo();
      held = next;
    },
    async release() {
      clearInterval(beat);
      const there = statSync(lock, { bigint: true, throwIfNoEntry: false });
      if (there !== undefined && isHeld(there, held)) rmSync(lock, { force: true });
      await letGo();
    },
  };
}

interface Held {
  readonly fd: number;
  readonly ino: bigint;
  readonly dev: bigint;
  readonly text: Buffer;
}

const isHeld = ({ ino, dev }: Pick<Held, 'ino' | 'dev'>, held: Held): boolean => ino === held.ino && dev === held.dev;

/** Returns the canonical path of the file that is written, whether or not it exists yet: all links are followed. */
function targetOf(file: string): string {
  let path = file;
  for (let links = 0; links <= MAX_LINKS; links++) {
    try {
      // The function in JavaScript treats `..` after a link in another way than the system, and may never return.
      const real = realpathSync.native(path);
      return statSync(real).isFile() ? real : placeOf(file);
    } catch {
      const target = linkAt(path);
      if (target === undefined) return placeOf(path);
      path = isAbsolute(target) ? target : `${dirname(path)}/${target}`;
    }
  }
  return placeOf(file);
}

/** Returns the path of a file or link itself, in its canonical folder. */
function placeOf(path: string): string {
  try {
    return join(realpathSync.native(dirname(path)), basename(path));
  } catch {
    return resolve(path);
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function take(lock: string, file: string): Held {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const held = create(lock) ?? (judge(lock, file) === 'stale' ? takeOver(lock, file) : undefined);
    if (held !== undefined) return held;
  }
  throw invalid(`The audit file ${file} is being taken by another process; give each server its own file`);
}

/** Creates a lock of this process; returns undefined where there is one. */
function create(path: string): Held | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
  try {
    const text = Buffer.from(`${JSON.stringify(thisProcess(randomUUID()))}\n`);
    writeSync(fd, text);
    const { ino, dev } = fstatSync(fd, { bigint: true });
    return { fd, ino, dev, text };
  } catch (error) {
    closeSync(fd);
    rmSync(path, { force: true });
    throw error;
  }
}

/**
 * Replaces a stale lock by one of this process. Only the process that has the claim file may do so. It checks the lock again
 * first, because another process may have replaced it before.
 */
function takeOver(lock: string, file: string): Held | undefined {
  const claim = `${lock}.claim`;
  const held = create(claim);
  if (held === undefined) {
    // A process that was killed while it had the claim has left it behind.
    const age = ageOf(claim, lock);
    if (age !== undefined && age > LEASE_MS) rmSync(claim, { force: true });
    return undefined;
  }
  try {
    if (judge(lock, file) !== 'stale') {
      rmSync(claim, { force: true });
      closeSync(held.fd);
      return undefined;
    }
    renameSync(claim, lock);
  } catch (error) {
    rmSync(claim, { force: true });
    closeSync(held.fd);
    throw error;
  }
  const there = statSync(lock, { bigint: true, throwIfNoEntry: false });
  if (there !== undefined && isHeld(there, held)) return held;
  closeSync(held.fd);
  return undefined;
}

/** @throws ResourceError `invalid` where another process has the lock or may have it */
function judge(lock: string, file: string): 'stale' | 'gone' {
  const text = textOf(lock);
  if (text === undefined) return 'gone';
  const owner = parseOwner(text);
  const gone = owner && isGone(owner);
  if (gone === true) return 'stale';
  const advice = 'give each server its own file';
  if (gone === false && owner !== undefined)
    throw invalid(`The audit file ${file} is being written by process ${owner.pid}; ${advice}`);
  const age = ageOf(lock, lock);
  if (age === undefined) return 'gone';
  if (age > LEASE_MS) return 'stale';
  const seconds = Math.ceil((LEASE_MS - age) / 1_000);
  throw invalid(
    `The audit file ${file} may be written by ${nameOf(owner)}, which is not visible from here and renewed its lock ` +
      `${Math.max(0, Math.round(age / 1_000))} s ago; ${advice}. If that one has ended, start again in ${seconds} s, or ` +
      `remove ${lock} to take the file over at once`,
  );
}

const nameOf = (owner: Owner | undefined): string =>
  owner === undefined ? 'another process' : `process ${owner.pid} of ${owner.host}`;

function textOf(lock: string): string | undefined {
  const fd = openIfThere(lock);
  if (fd === undefined) return undefined;
  try {
    const buffer = Buffer.alloc(MAX_LOCK_BYTES);
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(fd);
  }
}

/** Returns the milliseconds since a file was written, by the clock of its file system; undefined where it is missing. */
function ageOf(path: string, lock: string): number | undefined {
  const now = `${lock}.${randomUUID()}`;
  const clock = openSync(now, 'wx', 0o600);
  try {
    // Opens the file, because a network file system may return stale attributes otherwise.
    const fd = openIfThere(path);
    if (fd === undefined) return undefined;
    const { mtimeMs } = fstatSync(fd);
    closeSync(fd);
    return fstatSync(clock).mtimeMs - mtimeMs;
  } finally {
    closeSync(clock);
    rmSync(now, { force: true });
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
