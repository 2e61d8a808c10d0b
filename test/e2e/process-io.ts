/** What the kernel says of a process: how much it has read, and whether it is there. */
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

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
