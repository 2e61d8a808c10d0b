/**
 * Asks the system about a process, and about the machine. Facts about processes are known on Linux only: elsewhere they are
 * undefined, and reports say n/a.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';

/** @param {string} path */
function tryRead(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Resident memory now, and the most it has been, in bytes.
 * @param {number | undefined} pid
 */
export function memoryOf(pid) {
  const status = tryRead(`/proc/${pid}/status`);
  /** @param {string} field */
  const bytes = (field) => {
    const kib = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status ?? '')?.[1];
    return kib === undefined ? undefined : Number(kib) * 1024;
  };
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}

/**
 * Resets the peak to what is resident now, so that it does not include the start.
 * @param {number | undefined} pid
 */
export function forgetPeak(pid) {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Then the peak includes the start.
  }
}

/**
 * Processor time that the present threads of a process have used, in seconds. Ended threads do not count.
 * @param {number | undefined} pid
 */
export function cpuSecondsOf(pid) {
  const threads = tryList(`/proc/${pid}/task`);
  if (threads.length === 0) return undefined;
  let nanoseconds = 0;
  for (const thread of threads) {
    nanoseconds += Number(tryRead(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ', 1)[0] ?? 0);
  }
  return nanoseconds / 1e9;
}

/**
 * The ids of the running processes that the main thread of a process has started.
 * @param {number | undefined} pid
 */
export const childrenOf = (pid) => tryRead(`/proc/${pid}/task/${pid}/children`)?.trim().split(' ').filter(Boolean);

/** @param {string} path */
function tryList(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** The machine, in a line. */
export function machine() {
  const model = cpus()[0]?.model ?? process.arch;
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${availableParallelism()} cores (${model}), ${memory} GiB, ${process.platform}, Node ${process.versions.node}`;
}
