/** One process at a time: a file beside the one that is changed, made by whoever may change it. */
import { open, rm, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { ResourceError } from '../../../core/errors.ts';

/** A lock as old as this, in milliseconds, was left by a process that died: no work under it takes so long. */
const STALE_MS = 60_000;

/** How long a lock is waited for, in milliseconds. */
const PATIENCE_MS = 30_000;

const POLL_MS = 25;

/** Runs the work while no other process runs its own under the same path. */
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

/** Milliseconds since it was made; undefined when it is gone. */
async function ageOf(path: string): Promise<number | undefined> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch {
    return undefined;
  }
}
