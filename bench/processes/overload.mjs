/**
 * Clients that each ask again as soon as they have an answer, and a while after a refusal.
 *
 * Argument, in JSON: `{url, clients, seconds, pauseMs}`. Prints `{accepted, refused}`, each as `{perSecond, p50, p99}` with
 * latencies in milliseconds.
 */
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { exchange, modern } from '../lib/mcp.mjs';
import { quantile } from '../lib/stats.mjs';

const { url, clients, seconds, pauseMs } = JSON.parse(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: clients });
const request = modern('tools/call', { name: 'work', arguments: {} });

/** @type {number[]} */
const accepted = [];
/** @type {number[]} */
const refused = [];
const end = performance.now() + seconds * 1_000;
await Promise.all(
  Array.from({ length: clients }, async () => {
    while (performance.now() < end) {
      const sent = performance.now();
      const { headers, body } = await exchange(url, request, agent);
      const took = performance.now() - sent;
      if (body.includes('"done"')) {
        accepted.push(took);
        continue;
      }
      if (!body.includes('"limited"') || !(Number(headers['retry-after']) > 0)) throw new Error(`unexpected: ${body}`);
      refused.push(took);
      await pause(pauseMs);
    }
  }),
);
agent.destroy();

const summaryOf = (latencies) => ({
  perSecond: latencies.length / seconds,
  p50: quantile(latencies, 0.5),
  p99: quantile(latencies, 0.99),
});
process.stdout.write(JSON.stringify({ accepted: summaryOf(accepted), refused: summaryOf(refused) }));
