/** The owner of a lock, described so that processes of other containers and machines can tell whether it still runs. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface Owner {
  /** A random id: no two owners share it. */
  readonly id: string;
  readonly pid: number;
  /** When the process began, in the kernel's ticks since boot, because process ids are reused. Empty: unknown. */
  readonly started: string;
  /** The id of the running kernel's boot. Empty where the system has none, as outside Linux. */
  readonly boot: string;
  /** The process id namespace. Empty like `boot`. */
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

/** Parses a lock; undefined for an invalid or incomplete text. */
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

/** Whether the process has ended; undefined where that is not visible from here. */
export function isGone(owner: Owner): boolean | undefined {
  if (owner.boot === '' || owner.boot !== bootId() || owner.namespace !== pidNamespace()) return undefined;
  if (!Number.isSafeInteger(owner.pid) || owner.pid <= 0) return undefined;
  const state = stateOf(owner.pid);
  // Without the state, only the process id can be checked, although it may belong to another process by now.
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

/** Parses `/proc/<pid>/stat` after the name, which may contain anything: the state is first, the start time 20th. */
function stateOf(pid: number): { readonly ended: boolean; readonly started: string } | undefined {
  const text = read(`/proc/${pid}/stat`);
  const [state, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const started = rest[18];
  // An ended process stays listed until its parent has read its status.
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
