/** Subscribers of a file that is served, each with a `subscriptions/listen` stream of its own, and edits that they are told of. */
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { modern } from './mcp.mjs';
import { progress } from './report.mjs';

/** Streams that are opened at the same time. */
const OPENING = 50;
const TOLD_WITHIN_MS = 60_000;

/** Milliseconds from one edit to the next: no update of one is told so late that it is counted for the other. */
const APART_MS = 500;

/**
 * Opens streams, at one server after the other, and resolves when each has been acknowledged.
 * @param {readonly string[]} urls
 * @param {number} count
 * @param {string} uri
 */
export async function subscribe(urls, count, uri) {
  /** Called with the index of a subscriber for each update that it is told of. */
  let told = (_subscriber) => {};
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  /** @type {import('node:http').ClientRequest[]} */
  const streams = [];
  while (streams.length < count) {
    progress(`${streams.length} of ${count} listen`);
    const some = Math.min(OPENING, count - streams.length);
    streams.push(...(await Promise.all(Array.from({ length: some }, (_, index) => listen(streams.length + index)))));
  }

  /**
   * @param {number} subscriber
   * @returns {Promise<import('node:http').ClientRequest>}
   */
  function listen(subscriber) {
    const { headers, message } = modern('subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } });
    return new Promise((resolve, reject) => {
      const url = urls[subscriber % urls.length] ?? '';
      const sent = request(url, { method: 'POST', headers, agent }, (answer) => {
        let rest = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk) => {
          rest += chunk;
          const events = rest.split('\n\n');
          rest = events.pop() ?? '';
          for (const event of events) {
            if (event.includes('notifications/resources/updated')) told(subscriber);
            else if (event.includes(uri)) resolve(sent);
            else if (event.includes('"error"')) reject(new Error(event));
          }
        });
        answer.once('error', () => {});
        answer.once('end', () => reject(new Error(`the stream ended: ${rest}`)));
      });
      sent.once('error', reject);
      sent.end(JSON.stringify(message));
    });
  }

  return {
    /**
     * Edits the file, and gives each subscriber's milliseconds until it was told.
     * @param {string} file
     * @param {string} text
     * @returns {Promise<Float64Array>}
     */
    async edit(file, text) {
      await new Promise((resolve) => setTimeout(resolve, APART_MS));
      const latencies = new Float64Array(count);
      let waiting = count;
      await new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error(`${waiting} of ${count} were not told within ${TOLD_WITHIN_MS} ms`)),
          TOLD_WITHIN_MS,
        );
        const start = performance.now();
        told = (subscriber) => {
          if (latencies[subscriber] > 0) return;
          latencies[subscriber] = performance.now() - start;
          if (--waiting > 0) return;
          clearTimeout(late);
          resolve(undefined);
        };
        writeFileSync(file, text);
      });
      return latencies;
    },
    close() {
      for (const stream of streams) stream.destroy();
      agent.destroy();
    },
  };
}
