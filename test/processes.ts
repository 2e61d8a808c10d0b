/** Lists the programs that run on this machine, for tests that nothing is left behind. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { until } from './e2e/waiting.ts';

let made = 0;

/** A number of seconds, longer than any test, that no other `sleep` on this machine has. */
export const longSleep = (): string => `${4_000_000 + process.pid}.${process.hrtime.bigint()}${++made}`;

/** Command lines of processes that have this text in them. */
export async function running(text: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'stat=,args=', '-ww'], { maxBuffer: 64 * 1024 * 1024 });
  // A process that has ended and was not yet waited for is no longer running.
  return stdout.split('\n').filter((line) => line.includes(text) && !line.startsWith('Z'));
}

/** Resolves when so many processes have this text in their command line. */
export const runningCount = (text: string, count: number): Promise<unknown> =>
  until(async () => (await running(text)).length === count, `${count} processes with ${text}`);
