/**
 * Asks a server for `/healthz` again and again, on a thread of its own, so that nothing that the benchmark does is measured.
 * For each message it gives how long the longest answer took since the last one, in milliseconds.
 */
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** How often it asks, in milliseconds. */
const EVERY_MS = 5;

const agent = new Agent({ keepAlive: true });
let longest = 0;
/** @type {(() => void) | undefined} */
let wanted;

const probe = () =>
  new Promise((resolve, reject) => {
    const sent = get(workerData.url, { agent }, (answer) => answer.resume().once('end', resolve).once('error', reject));
    sent.once('error', reject);
  });

parentPort?.on('message', () => {
  wanted = () => {
    parentPort?.postMessage(longest);
    longest = 0;
  };
});

for (;;) {
  const before = performance.now();
  await probe();
  longest = Math.max(longest, performance.now() - before);
  // A message that came during a request is answered after it, so that its time counts.
  wanted?.();
  wanted = undefined;
  await pause(EVERY_MS);
}
