/** Lets one process at a time change a file. The process makes a lock file beside it, and removes that when it is done. */
import { open, rm, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { ResourceError } from '../../../core/errors.ts';

/** A lock that is older, in milliseconds, was left by a process that died: no work under a lock takes so long. */
const STALE_MS = 60_000;

/** How long a process waits for a lock, in milliseconds. */
const PATIENCE_MS = 30_000;

const POLL_MS = 25;

/**
 * Runs the work while no other process runs work under the same path.
 * @param path of the lock file
 * @throws ResourceError `unavailable` if another process keeps the lock too long
 */
export async function locked<T>(path: string, work: () => Promise<T>): Promise<T> {
  await acquire(path);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function acquire(path: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await created(path))) {
    const age = await ageOf(path);
    if (age !== undefined && age > STALE_MS) await rm(path, { force: true });
    else if (Date.now() > deadline) throw new ResourceError('unavailable', 'Another process keeps the file locked');
    else await pause(POLL_MS);
  }
}

async function created(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Returns the milliseconds since the lock was made; undefined if it is gone. */
async function ageOf(path: string): Promise<number | undefined> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch {
    return undefined;
  }
}
