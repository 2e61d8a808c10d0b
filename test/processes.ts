/** Lists running programs, for tests that nothing is left behind, and makes the start of programs fail. */
import { ChildProcess, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { until } from './e2e/waiting.ts';

let made = 0;

/** A number of seconds, longer than any test, that no other `sleep` on this machine has. */
export const longSleep = (): string => `${4_000_000 + process.pid}.${process.hrtime.bigint()}${++made}`;

/** Command lines of processes that contain this text. */
export async function running(text: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'stat=,args=', '-ww'], { maxBuffer: 64 * 1024 * 1024 });
  // An ended process that its parent has not waited for is no longer running.
  return stdout.split('\n').filter((line) => line.includes(text) && !line.startsWith('Z'));
}

/** Resolves when that many processes have this text in their command line. */
export const runningCount = (text: string, count: number): Promise<unknown> =>
  until(async () => (await running(text)).length === count, `${count} processes with ${text}`);

/** The numbers by which libuv reports too many open files, of which Node.js makes an event, and too little memory, which it throws. */
const UV = { EMFILE: -24, ENOMEM: -12 };

/** Makes the system refuse to start programs, as with too many open files, until it is disposed of. */
export function refuseStarts(reason: keyof typeof UV = 'EMFILE'): Disposable {
  const system = Object.getPrototypeOf(Reflect.get(new ChildProcess(), '_handle')) as { spawn(): number };
  const refused = vi.spyOn(system, 'spawn').mockReturnValue(UV[reason]);
  return { [Symbol.dispose]: () => refused.mockRestore() };
}
