/** Programs with all that they start, as the operating system groups them; none of them outlives this process. */

/** The operating system has process groups (not Windows): a program and all that it starts end together. */
export const GROUPS = process.platform !== 'win32';

/** Groups in which something may still run. */
const running = new Set<number>();

/** The program leads a group of its own. It is killed when this process ends, whatever way that goes. */
export function begun(pid: number): void {
  if (running.size === 0) process.on('exit', killAll);
  running.add(pid);
}

/** Nothing of the group is left. */
export function ended(pid: number): void {
  running.delete(pid);
  if (running.size === 0) process.off('exit', killAll);
}

function killAll(): void {
  for (const pid of running) signal(pid, 'SIGKILL');
}

/** Signals a program and all that it started; whether there was anything to signal. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(GROUPS ? -pid : pid, name);
    return true;
  } catch {
    return false;
  }
}
