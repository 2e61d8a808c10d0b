/** Waits with a time limit, whose error says what did not come. */
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

/** How long to wait for anything, however busy the machine is, in milliseconds. A longer wait counts as a failure. */
export const PATIENCE_MS = 120_000;

/** Gives the value of the promise. If it takes too long, throws an error that says what was awaited. */
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

/** Calls a function again and again until it gives something other than undefined or false, for facts that no event reports. */
export async function until<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  what: string,
  ms = PATIENCE_MS,
): Promise<T> {
  // The time is not taken from the date, because some tests set the date.
  const deadline = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
    await pause(10);
  }
}

/** The processor time of the loop in `slowness`, in microseconds. */
const SAMPLE_US = 20_000;

/**
 * How many times longer this process takes now than on an idle machine, at least 1. For limits that a test lets run out, while the rest
 * of the test must stay within them.
 */
export function slowness(): number {
  const [load = 0] = loadavg();
  return Math.max(1, load / availableParallelism(), slownessNow());
}

/** The same for this moment alone. A busy machine may happen to run this process at once, so `slowness` looks at the load, too. */
function slownessNow(): number {
  const begun = performance.now();
  const before = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(before);
    if (user + system >= SAMPLE_US) return ((performance.now() - begun) * 1_000) / (user + system);
  }
}
