/** Facts about a process from the kernel: the bytes that it has read, its processor time, and whether it runs. */
import { readFileSync } from 'node:fs';

/** Only Linux tells how many bytes another process has read. */
export const KNOWS_READ_BYTES = process.platform === 'linux' && canReadIo();

function canReadIo(): boolean {
  try {
    return readBytes(process.pid) >= 0;
  } catch {
    return false;
  }
}

/** Bytes that a process has read so far, from files and pipes. */
export function readBytes(pid: number): number {
  const found = /^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1];
  if (found === undefined) throw new Error('the kernel does not say how much was read');
  return Number(found);
}

/** Processor time of a process so far, in milliseconds, which is the same on a busy machine. Only Linux tells it. */
export function processorMs(pid: number): number {
  // The name of the program, in brackets, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  // User and system time, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
