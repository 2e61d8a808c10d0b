/**
 * Puts the temporary folders of tests into memory, where the machine has a folder for that, because most tests would otherwise wait for
 * a disk.
 */
import { readFileSync, statfsSync } from 'node:fs';

/** Linux has it. In a container it may be too small, or may not run programs, which some tests need. */
const IN_MEMORY = '/dev/shm';

/** All concurrent tests have some hundred mebibytes of files. */
const NEEDED_BYTES = 2 * 2 ** 30;

const runsPrograms = (): boolean =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .some(([, folder, , options]) => folder === IN_MEMORY && !options?.split(',').includes('noexec'));

function isEnough(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= NEEDED_BYTES && runsPrograms();
  } catch {
    return false;
  }
}

/** The environment of tests whose temporary folders are in memory; empty where that is not possible. */
export const TEMPORARY: Readonly<Record<string, string>> = isEnough() ? { TMPDIR: IN_MEMORY } : {};
