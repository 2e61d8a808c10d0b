/** Lets one process at a time change a file. The process makes a lock file beside it, and removes that when it is done. */
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { ResourceError } from '../../../core/errors.ts';

/** A lock that is older, in milliseconds, was left by a process that died: no work under a lock takes so long. */
const STALE_MS = 60_000;

/** How long a process waits for a lock, in milliseconds. */
const PATIENCE_MS = 30_000;

const POLL_MS = 25;

/** Tells a lock file from every other one that is at the same path before or after it. */
type Identity = string;

/**
 * Runs the work while no other process runs work under the same path.
 * @param path of the lock file
 * @throws ResourceError `unavailable` if another process keeps the lock too long
 */
export async function locked<T>(path: string, work: () => Promise<T>): Promise<T> {
  const own = await acquire(path);
  try {
    return await work();
  } finally {
    await release(path, own);
  }
}

async function acquire(path: string): Promise<Identity> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const own = (await create(path)) ?? (await takeOver(path));
    if (own !== undefined) return own;
    if (Date.now() > deadline) throw new ResourceError('unavailable', 'Another process keeps the file locked');
    await pause(POLL_MS);
  }
}

/** Removes the lock. If the work took so long that another process took the lock over, it stays. */
async function release(path: string, own: Identity): Promise<void> {
  if ((await lockAt(path))?.identity === own) await rm(path, { force: true });
}

/** Makes a lock; returns undefined if there is one. */
async function create(path: string): Promise<Identity | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
  try {
    return identityOf(await file.stat({ bigint: true }));
  } finally {
    await file.close();
  }
}

/**
 * Replaces a stale lock by one's own; returns undefined if it is not stale, or if another process was faster. Only the process
 * that makes the claim may replace it. The claim's name has the identity of the stale lock, so it never replaces a later one.
 */
async function takeOver(path: string): Promise<Identity | undefined> {
  const stale = await lockAt(path);
  if (stale === undefined || !stale.isStale) return undefined;
  const claim = `${path}.${stale.identity}`;
  const own = await create(claim);
  if (own === undefined) {
    // A process that was killed while it took the lock over left the claim.
    if ((await lockAt(claim))?.isStale === true) await rm(claim, { force: true });
    return undefined;
  }
  if ((await lockAt(path))?.identity === stale.identity) await renameIfThere(claim, path);
  else await rm(claim, { force: true });
  return (await lockAt(path))?.identity === own ? own : undefined;
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

interface Lock {
  readonly identity: Identity;
  readonly isStale: boolean;
}

/** Returns the lock at a path; undefined if it is gone. */
async function lockAt(path: string): Promise<Lock | undefined> {
  try {
    const facts = await stat(path, { bigint: true });
    return { identity: identityOf(facts), isStale: Date.now() - Number(facts.mtimeMs) > STALE_MS };
  } catch {
    return undefined;
  }
}

const identityOf = ({ ino, mtimeNs }: { readonly ino: bigint; readonly mtimeNs: bigint }): Identity =>
  `${ino}-${mtimeNs}`;
