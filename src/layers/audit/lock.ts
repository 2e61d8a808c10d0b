/** One process writes an audit file: two would break its chain. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { invalid } from '../../core/errors.ts';

const held = new Set<string>();

/**
 * Takes the file for this process, until the lock is released or the process is gone.
 * @throws ResourceError `invalid` when another process, or another server in this one, has it
 */
export function lockFile(file: string): { release(): void } {
  const lock = `${resolve(file)}.lock`;
  const owner = ownerOf(lock);
  if (held.has(lock) || (owner !== undefined && owner !== process.pid && isAlive(owner))) {
    throw invalid(
      `The audit file ${file} is being written by process ${owner ?? process.pid}; give each server a file of its own, ` +
        `or remove ${lock} if that process is no server`,
    );
  }
  // Left over by a process that was killed.
  if (owner !== undefined) rmSync(lock, { force: true });
  writeFileSync(lock, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
  held.add(lock);
  return {
    release() {
      if (held.delete(lock)) rmSync(lock, { force: true });
    },
  };
}

function ownerOf(lock: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(lock, 'utf8'), 10) || 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
