/** A server that misbehaves, over HTTP: every stream may be endless, and an answer that is not a stream, too. */
import { createServer } from 'node:http';
import { SUBSCRIPTION_KEY } from '../faults/upstream/protocol.mjs';
import { goodAnswer } from './good.mjs';

const EVENTS = { 'Content-Type': 'text/event-stream' };

/** @param {import('./kinds.mjs').Kind} kind @param {string} era @param {number} port */
export function serveHttp(kind, era, port) {
  /** @param {import('node:http').ServerResponse} response @param {(number: number) => string} text */
  function flood(response, text, number = 0) {
    if (response.destroyed) return;
    const goOn = () => setImmediate(flood, response, text, number + 1);
    if (response.write(text(number))) goOn();
    else response.once('drain', goOn);
  }

  const lines = (/** @type {number} */ number) =>
    kind.after?.(number) ?? kind.atOnce?.(number).flatMap(([fd, text]) => (fd === 1 ? text.split('\n') : []));
  const events = (/** @type {number} */ number) =>
    (lines(number) ?? []).map((line) => `event: message\ndata: ${line}\n\n:\n\n`).join('');

  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      if (lines(0) === undefined) return response.writeHead(405).end();
      response.writeHead(200, EVENTS);
      return flood(response, events);
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = body === '' ? {} : JSON.parse(body);
    if (message.id === undefined || message.method === undefined) return response.writeHead(202).end();
    const good = (/** @type {any} */ asked) => goodAnswer(asked, era);
    if (message.method === 'subscriptions/listen' || kind.atOnce !== undefined) {
      response.writeHead(200, EVENTS);
      const params = { notifications: message.params?.notifications, _meta: { [SUBSCRIPTION_KEY]: message.id } };
      const method = 'notifications/subscriptions/acknowledged';
      if (kind.atOnce === undefined) response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method, params })}\n\n`);
      if (lines(0) !== undefined) flood(response, events);
      return;
    }
    if (good(message) === undefined) {
      const error = { code: -32601, message: 'Method not found' };
      response.writeHead(200, { 'Content-Type': 'application/json' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
    }
    const answers = kind.answers?.(message, good) ?? [
      JSON.stringify({ jsonrpc: '2.0', id: message.id, result: good(message) }),
    ];
    if (answers.length === 0) return;
    if (answers.length === 1) {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write(answers[0]);
      // This answer does not end.
      if (kind.after !== undefined && message.method === 'tools/list') flood(response, () => ' '.repeat(65_536));
      else response.end();
      return;
    }
    response.writeHead(200, EVENTS);
    for (const answer of answers) response.write(`data: ${answer}\n\n`);
    response.end();
  });
  server.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'));
}
