/** The server over Streamable HTTP. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { die } from './control.mjs';
import { FORMS, flood, NOISES } from './garbled.mjs';
import { resultOf, SUBSCRIPTION_KEY, URI } from './protocol.mjs';

/**
 * @typedef {import('./protocol.mjs').Message} Message
 * @typedef {import('node:http').ServerResponse} Response
 */

const UPDATED = 'notifications/resources/updated';

/** @param {import('./control.mjs').Control} control @param {string} era @param {number} port */
export function serveHttp(control, era, port) {
  /** @type {Map<string, { subscribed: boolean, stream?: Response }>} */
  const sessions = new Map();
  /** @type {Map<Response, { id: string, wanted: boolean }>} */
  const listening = new Map();
  /** @type {(() => void)[]} */
  let held = [];
  let told = control.world().changes;

  /** @param {Response} response */
  const open = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
  };
  /** @param {Response} response @param {string | Buffer} text */
  const event = (response, text) => {
    response.write('data: ');
    response.write(text);
    response.write('\n\n');
  };
  /** @param {Response} response @param {Message} message */
  const say = (response, message) => event(response, JSON.stringify({ jsonrpc: '2.0', ...message }));
  /** @param {Response} response @param {number} status */
  const refuse = (response, status) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'at /home/secret/x.js:1' } }));
  /** @param {Response} response @param {Message} message */
  const reply = (response, message) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', ...message }));

  /** @param {Message} message @param {Response} response @param {{ subscribed: boolean } | undefined} session */
  function answer(message, response, session) {
    const { id, method } = message;
    const fault = control.fault();
    const refuses = fault.kind === 'refuse-subscriptions';
    if (method === 'subscriptions/listen' && era === 'modern') {
      if (fault.form === 'error') return reply(response, { id, error: { code: -32_603, message: 'No streams today' } });
      const { resourceSubscriptions: uris, ...lists } = message.params.notifications;
      const granted = refuses || uris === undefined ? lists : { ...lists, resourceSubscriptions: uris };
      open(response);
      const params = { notifications: granted, _meta: { [SUBSCRIPTION_KEY]: id } };
      say(response, { method: 'notifications/subscriptions/acknowledged', params });
      listening.set(response, { id, wanted: granted.resourceSubscriptions?.includes(URI) === true });
      response.on('close', () => listening.delete(response));
      return control.note('subscribed');
    }
    if (method === 'resources/subscribe' && session !== undefined) {
      if (refuses) return reply(response, { id, error: { code: -32_603, message: 'No subscriptions today' } });
      session.subscribed = true;
      control.note('subscribed');
    }
    const result = resultOf(message, era, control);
    return reply(
      response,
      result === undefined ? { id, error: { code: -32_601, message: 'Method not found' } } : { id, result },
    );
  }

  /** @param {Message} message @param {Response} response @param {() => void} otherwise */
  function fail(message, response, otherwise) {
    const fault = control.fault();
    const whole = { jsonrpc: '2.0', id: message.id, result: resultOf(message, era, control) };
    const text = JSON.stringify(whole);
    switch (fault.kind) {
      case 'die':
        return die();
      case 'die-half':
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
        response.write(text.slice(0, text.length / 2), die);
        return;
      case 'slow':
        held.push(otherwise);
        return;
      case 'status':
        return refuse(response, fault.status ?? 500);
      case 'page':
        return response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>');
      case 'cut':
        open(response);
        response.write(`data: ${text.slice(0, text.length / 2)}`, () => response.destroy());
        return;
      case 'end-early':
        open(response);
        return response.end();
      case 'garbled': {
        const lines = (FORMS[fault.form ?? ''] ?? NOISES[fault.form ?? ''] ?? (() => []))(whole);
        open(response);
        for (const line of lines) event(response, line);
        return response.end();
      }
      case 'flood':
        open(response);
        for (const line of flood(whole)) event(response, line);
        return response.end();
      case 'hang':
        return;
      default:
        otherwise();
    }
  }

  const server = createServer(async (request, response) => {
    const key = String(request.headers['mcp-session-id'] ?? '');
    const session = sessions.get(key);
    const fault = control.fault();
    if (fault.kind === 'deaf') return;
    if (request.method === 'DELETE') {
      sessions.delete(key);
      return response.writeHead(200).end();
    }
    if (request.method === 'GET') {
      if (era === 'modern') return refuse(response, 405);
      if (session === undefined) return refuse(response, 404);
      open(response);
      session.stream = response;
      return;
    }
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const message = JSON.parse(Buffer.concat(chunks).toString());
    control.note('received', { method: message.method });
    const fresh = message.method === 'initialize' && era === 'legacy';
    const pass = () => {
      if (message.id === undefined) return void response.writeHead(202).end();
      if (fresh) {
        const id = randomUUID();
        sessions.set(id, { subscribed: false });
        response.setHeader('mcp-session-id', id);
      } else if (era === 'legacy' && session === undefined) return refuse(response, key === '' ? 400 : 404);
      answer(message, response, session);
    };
    if (control.strikes(message.method) !== undefined) fail(message, response, pass);
    else pass();
  });
  server.listen(port, '127.0.0.1');

  control.look(() => {
    const { kind } = control.fault();
    if (kind === 'die-idle' || kind === 'crash-loop') die();
    if (kind === 'lose-sessions' && sessions.size > 0) {
      for (const { stream } of sessions.values()) stream?.destroy();
      sessions.clear();
    }
    if (kind === 'cut-streams') {
      for (const { stream } of sessions.values()) stream?.destroy();
      for (const response of listening.keys()) response.destroy();
    }
    if (kind !== 'slow') {
      for (const go of held) go();
      held = [];
    }
    const { changes } = control.world();
    if (changes === told) return;
    told = changes;
    for (const { subscribed, stream } of sessions.values()) {
      if (subscribed && stream !== undefined) say(stream, { method: UPDATED, params: { uri: URI } });
    }
    for (const [response, { id, wanted }] of listening) {
      if (wanted) say(response, { method: UPDATED, params: { uri: URI, _meta: { [SUBSCRIPTION_KEY]: id } } });
    }
  });
  return server;
}
