/** Puts the temporary folders of tests into memory, on machines that have a folder for that: most tests wait for a disk otherwise. */
import { readFileSync, statfsSync } from 'node:fs';

/** Linux has it; a container may have too little of it, or one that runs no programs, and tests have some run from there. */
const IN_MEMORY = '/dev/shm';

/** All that runs at one time has some hundred mebibytes of files. */
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

/** The environment of tests whose temporary folders are in memory; it is empty where that is not to be had. */
export const TEMPORARY: Readonly<Record<string, string>> = isEnough() ? { TMPDIR: IN_MEMORY } : {};
