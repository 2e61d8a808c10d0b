/** A server that misbehaves, over standard input and output. */
import { createInterface } from 'node:readline';
import { SUBSCRIPTION_KEY } from '../faults/upstream/protocol.mjs';
import { goodAnswer } from './good.mjs';

/** @param {import('./kinds.mjs').Kind} kind @param {string} era */
export function serveStdio(kind, era) {
  let flooding = false;

  function flood(number = 0) {
    flooding = true;
    const lines = [];
    for (let each = 0; each < 100; each++) lines.push(...(kind.after?.(100 * number + each) ?? []));
    const goOn = () => setImmediate(flood, number + 1);
    if (process.stdout.write(`${lines.join('\n')}\n`)) goOn();
    else process.stdout.once('drain', goOn);
  }

  const input = createInterface({ input: process.stdin });
  input.on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined || message.id === undefined) return;
    const good = (/** @type {any} */ request) => goodAnswer(request, era);
    if (good(message) === undefined) {
      const error = { code: -32601, message: 'Method not found' };
      process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, error })}\n`);
      return;
    }
    if (message.method === 'subscriptions/listen') {
      const params = { notifications: message.params.notifications, _meta: { [SUBSCRIPTION_KEY]: message.id } };
      const method = 'notifications/subscriptions/acknowledged';
      process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
      return;
    }
    const answers = kind.answers?.(message, good) ?? [
      JSON.stringify({ jsonrpc: '2.0', id: message.id, result: good(message) }),
    ];
    for (const answer of answers) process.stdout.write(`${answer}\n`);
    if (kind.after !== undefined && !flooding) flood();
  });
  if (kind.stubborn === true) setInterval(() => {}, 1_000_000);
  else input.on('close', () => process.exit(0));
}
