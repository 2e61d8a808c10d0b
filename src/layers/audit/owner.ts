/** Who holds a lock, said so that processes of other containers and machines can tell whether that is still so. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface Owner {
  /** Random: two holders never have the same one. */
  readonly id: string;
  readonly pid: number;
  /** When the process began, in the kernel's ticks since it booted: a number of a process is given again. Empty: unknown. */
  readonly started: string;
  /** Of the kernel that runs it. Empty where the system does not say, as outside Linux. */
  readonly boot: string;
  /** In which the number means this process. Empty like `boot`. */
  readonly namespace: string;
  readonly host: string;
}

export function thisProcess(id: string): Owner {
  return {
    id,
    pid: process.pid,
    started: stateOf(process.pid)?.started ?? '',
    boot: bootId(),
    namespace: pidNamespace(),
    host: hostname(),
  };
}

/** Reads a lock; undefined for a text that no owner wrote, or has not written to its end. */
export function parseOwner(text: string): Owner | undefined {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof said !== 'object' || said === null) return undefined;
  const { id, pid, started, boot, namespace, host } = said as Readonly<Record<string, unknown>>;
  const texts = [id, started, boot, namespace, host];
  if (typeof pid !== 'number' || !texts.every((each) => typeof each === 'string' && each.length <= 512))
    return undefined;
  return said as Owner;
}

/** Whether the process has ended; undefined where that cannot be seen from here. */
export function isGone(owner: Owner): boolean | undefined {
  if (owner.boot === '' || owner.boot !== bootId() || owner.namespace !== pidNamespace()) return undefined;
  if (!Number.isSafeInteger(owner.pid) || owner.pid <= 0) return undefined;
  const state = stateOf(owner.pid);
  // Without that the number alone says whether there is such a process, perhaps another one: that is no proof.
  if (state === undefined) return !hasProcess(owner.pid);
  return state.ended || (owner.started !== '' && state.started !== owner.started);
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** `/proc/<pid>/stat` after the name, which may have anything in it: the state is first, the time of the start 20th. */
function stateOf(pid: number): { readonly ended: boolean; readonly started: string } | undefined {
  const text = read(`/proc/${pid}/stat`);
  const [state, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const started = rest[18];
  // A process that has ended stays in the list until its parent has asked how.
  return state === undefined || started === undefined ? undefined : { ended: /^[ZXx]$/.test(state), started };
}

const bootId = (): string => read('/proc/sys/kernel/random/boot_id').trim();

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
