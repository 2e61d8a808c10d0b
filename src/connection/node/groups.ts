/** Keeps programs, with all processes that they start, in groups of the operating system, so that none outlives this process. */

/** The operating system has process groups (not Windows): a program and all that it starts end together. */
export const GROUPS = process.platform !== 'win32';

/** Groups in which something may still run. */
const running = new Set<number>();

/** Notes a program that leads a group of its own. The group is killed when this process exits. */
export function addGroup(pid: number): void {
  if (running.size === 0) process.on('exit', killAll);
  running.add(pid);
}

/** Forgets a group of which no process is left. */
export function removeGroup(pid: number): void {
  running.delete(pid);
  if (running.size === 0) process.off('exit', killAll);
}

function killAll(): void {
  for (const pid of running) signal(pid, 'SIGKILL');
}

/** Sends a signal to a program and all that it started. Returns whether there was a process to send it to. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(GROUPS ? -pid : pid, name);
    return true;
  } catch {
    return false;
  }
}
