/**
 * Loaded before a server: writes to the file in `STALLS_FILE`, at each SIGUSR2, the longest delay of its event loop, and
 * the most processor time that the main thread took between two runs of a timer. On a machine that is busy with other things,
 * only the latter says what the server did.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const EVERY_MS = 5;

/** Of the main thread, in milliseconds; undefined where the system does not say. */
function processorTime() {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6;
  } catch {
    return undefined;
  }
}

if (isMainThread) {
  const delays = monitorEventLoopDelay({ resolution: EVERY_MS });
  delays.enable();
  let before = processorTime();
  let longest = 0;
  setInterval(() => {
    const time = processorTime();
    if (time !== undefined && before !== undefined) longest = Math.max(longest, time - before);
    before = time;
  }, EVERY_MS).unref();
  process.on('SIGUSR2', () => {
    const turnMs = before === undefined ? undefined : longest;
    writeFileSync(process.env.STALLS_FILE, `${JSON.stringify({ delayMs: delays.max / 1e6, turnMs })}\n`);
    delays.reset();
    longest = 0;
  });
}
