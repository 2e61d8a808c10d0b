/** Waits that end: for an event, with an error that says what did not come. */
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

/** How long anything may be waited for, on however busy a machine, in milliseconds: what takes longer has failed. */
export const PATIENCE_MS = 120_000;

/** Gives the value of the promise; if that takes too long, throws an error that names what was awaited. */
export async function within<T>(awaited: Promise<T>, what: string, ms = PATIENCE_MS): Promise<T> {
  const patience = new AbortController();
  const expired = pause(ms, undefined, { signal: patience.signal }).then(() => {
    throw new Error(`waited ${ms} ms for ${what}`);
  });
  expired.catch(() => {});
  try {
    return await Promise.race([awaited, expired]);
  } finally {
    patience.abort();
  }
}

/** Asks again and again until the answer is something other than undefined or false; for what sends no event. */
export async function until<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  what: string,
  ms = PATIENCE_MS,
): Promise<T> {
  // Not by the date, which some tests set.
  const deadline = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
    await pause(10);
  }
}

/** Time of a processor that `slowness` takes, in microseconds. */
const SAMPLE_US = 20_000;

/**
 * How many times longer than on a machine of its own this process takes now, at least 1: for limits that a test has to
 * run out, while what it does not expect to fail keeps within them.
 */
export function slowness(): number {
  const [load = 0] = loadavg();
  return Math.max(1, load / availableParallelism(), slownessNow());
}

/** The same, of this moment alone: a busy machine may have let this one run at once. */
function slownessNow(): number {
  const begun = performance.now();
  const before = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(before);
    if (user + system >= SAMPLE_US) return ((performance.now() - begun) * 1_000) / (user + system);
  }
}
