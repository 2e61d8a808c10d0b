/** Asks the kernel about a process: how much it has read and worked, and whether it is there. */
import { readFileSync } from 'node:fs';

/** Only Linux tells how much another process has read. */
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

/** Milliseconds that processors have worked for a process so far: the same on a busy machine. Only Linux tells. */
export function processorMs(pid: number): number {
  // The name of the program, in brackets, may have spaces in it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  // Of the program itself and of the system for it, in hundredths of a second.
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
