/**
 * One process writes an audit file, also where several containers or machines share it: two would break its chain. The
 * lock is a file beside it, which says who has it, and is written again and again while that process lives.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  write,
  writeSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { invalid } from '../../core/errors.ts';
import { isGone, type Owner, parseOwner, thisProcess } from './owner.ts';

/** How often whoever has the lock says so, in milliseconds. */
const BEAT_MS = 4_000;

/** A lock about which nobody has said anything for this long is nobody's, in milliseconds. */
export const LEASE_MS = 20_000;

/** Bytes of a lock that are read. */
const MAX_LOCK_BYTES = 4_096;

/** How often a lock is tried that is let go at that moment. */
const MAX_TRIES = 5;

export interface FileLock {
  /**
   * Resolves while this process has the lock; takes it again where it was removed.
   * @throws ResourceError `invalid` when another one has taken it
   */
  keep(): Promise<void>;
  release(): Promise<void>;
}

const writeAt = promisify(write);

/** @throws ResourceError `invalid` when another process, or another server in this one, has it, or may have it */
export function lockFile(file: string): FileLock {
  const lock = `${placeOf(file)}.lock`;
  let held = take(lock, file);
  let beating: Promise<unknown> | undefined;
  const beat = setInterval(() => {
    // Written, since the time is set by the file system then: its clock is one for all machines that share it.
    beating ??= writeAt(held.fd, held.text, 0, held.text.length, 0)
      .catch(() => {})
      .finally(() => {
        beating = undefined;
      });
  }, BEAT_MS).unref();

  /** A number that was closed may mean another file by the time that it is written to. */
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

/** The name that all who write the same file agree on. */
function placeOf(file: string): string {
  try {
    const real = realpathSync(file);
    if (statSync(real).isFile()) return real;
  } catch {
    // It is not there yet: its folder is the same, whatever that is called.
  }
  return resolve(file);
}

function take(lock: string, file: string): Held {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const held = create(lock) ?? (judge(lock, file) === 'stale' ? takeOver(lock, file) : undefined);
    if (held !== undefined) return held;
  }
  throw invalid(`The audit file ${file} is being taken by another process; give each server a file of its own`);
}

/** Makes a lock of this process; undefined where there is one. */
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
 * Puts a lock of this process in the place of a stale one. The claim lets one process at a time do that, and has it look
 * again, since another one may have done so before.
 */
function takeOver(lock: string, file: string): Held | undefined {
  const claim = `${lock}.claim`;
  const held = create(claim);
  if (held === undefined) {
    // Left by a process that was killed just then.
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

/** @throws ResourceError `invalid` where the lock is held, or may be */
function judge(lock: string, file: string): 'stale' | 'gone' {
  const text = textOf(lock);
  if (text === undefined) return 'gone';
  const owner = parseOwner(text);
  const gone = owner && isGone(owner);
  if (gone === true) return 'stale';
  const advice = 'give each server a file of its own';
  if (gone === false && owner !== undefined)
    throw invalid(`The audit file ${file} is being written by process ${owner.pid}; ${advice}`);
  const age = ageOf(lock, lock);
  if (age === undefined) return 'gone';
  if (age > LEASE_MS) return 'stale';
  const seconds = Math.ceil((LEASE_MS - age) / 1_000);
  throw invalid(
    `The audit file ${file} may be written by ${nameOf(owner)}, which cannot be seen from here and gave a sign ` +
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

/** Milliseconds since a file was written, by the clock of its file system; undefined where it is not there. */
function ageOf(path: string, lock: string): number | undefined {
  const now = `${lock}.${randomUUID()}`;
  const clock = openSync(now, 'wx', 0o600);
  try {
    // Opened: what is known of a file may be old otherwise, where it lies on another machine.
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
