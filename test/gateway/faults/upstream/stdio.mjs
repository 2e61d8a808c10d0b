/** The server over standard input and output. */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { die } from './control.mjs';
import { FORMS, flood, NOISES } from './garbled.mjs';
import { resultOf, SUBSCRIPTION_KEY, URI } from './protocol.mjs';

/** @typedef {import('./protocol.mjs').Message} Message */

/** @param {import('./control.mjs').Control} control @param {string} era */
export function serveStdio(control, era) {
  /** @type {Map<string | number, boolean>} listen streams, and whether they are told of the resource */
  const streams = new Map();
  let subscribed = false;
  let told = control.world().changes;
  let deaf = false;
  /** @type {Message[]} */
  let held = [];
  /** @type {Message[]} that came while it was deaf */
  const unheard = [];

  /** @param {Message} message */
  const send = (message) => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

  /** @param {Message} message */
  function answer(message) {
    const { id } = message;
    const fault = control.fault();
    const refuses = fault.kind === 'refuse-subscriptions';
    if (message.method === 'subscriptions/listen' && era === 'modern') {
      if (fault.form === 'error') return send({ id, error: { code: -32_603, message: 'No streams today' } });
      const { resourceSubscriptions: uris, ...lists } = message.params.notifications;
      const granted = refuses || uris === undefined ? lists : { ...lists, resourceSubscriptions: uris };
      streams.set(id, granted.resourceSubscriptions?.includes(URI) === true);
      const params = { notifications: granted, _meta: { [SUBSCRIPTION_KEY]: id } };
      control.note('subscribed');
      return send({ method: 'notifications/subscriptions/acknowledged', params });
    }
    if (message.method === 'resources/subscribe') {
      if (refuses) return send({ id, error: { code: -32_603, message: 'No subscriptions today' } });
      control.note('subscribed');
      subscribed = true;
    }
    if (message.method === 'tools/call') {
      const { tells = [], writes } = control.world();
      if (writes !== undefined) writeSync(2, writes);
      for (const notification of tells) send(notification);
    }
    const result = resultOf(message, era, control);
    if (result === undefined) return send({ id, error: { code: -32_601, message: 'Method not found' } });
    return send({ id, result });
  }

  /** @param {Message} message @param {import('./control.mjs').Fault} fault */
  function fail(message, fault) {
    const whole = { jsonrpc: '2.0', id: message.id, result: resultOf(message, era, control) };
    switch (fault.kind) {
      case 'die':
        return die();
      case 'die-half': {
        const text = JSON.stringify(whole);
        // Written before the process dies; a stream could write it too late.
        writeSync(1, text.slice(0, text.length / 2));
        return die();
      }
      case 'slow':
        held.push(message);
        return;
      case 'garbled':
        for (const line of (FORMS[fault.form ?? ''] ?? NOISES[fault.form ?? ''] ?? (() => []))(whole)) {
          process.stdout.write(line);
          process.stdout.write('\n');
        }
        return;
      case 'flood':
        for (const line of flood(whole)) process.stdout.write(`${line}\n`);
        return;
      case 'hang':
        return;
      default:
        answer(message);
    }
  }

  const input = createInterface({ input: process.stdin });
  input.on('line', (line) => hear(JSON.parse(line)));

  /** @param {Message} message */
  function hear(message) {
    if (message.method === undefined) return;
    // Deaf from the moment that the fault is there, because the next look may come after this message.
    if (control.fault().kind === 'deaf') return void unheard.push(message);
    control.note('received', { method: message.method });
    if (message.method === 'notifications/cancelled') streams.delete(message.params.requestId);
    if (message.id === undefined) return;
    const fault = control.strikes(message.method);
    if (fault === undefined) answer(message);
    else fail(message, fault);
  }
  input.on('close', () => {
    control.note('ended');
    process.exit(0);
  });

  control.look(() => {
    const { kind } = control.fault();
    if (kind === 'die-idle' || kind === 'crash-loop') die();
    if ((kind === 'deaf') !== deaf) {
      deaf = kind === 'deaf';
      if (deaf) input.pause();
      else input.resume();
      control.note(deaf ? 'deaf' : 'hears');
    }
    if (kind !== 'deaf') for (const message of unheard.splice(0)) hear(message);
    if (kind !== 'slow') {
      for (const message of held) answer(message);
      held = [];
    }
    const { changes } = control.world();
    if (changes === told || deaf) return;
    told = changes;
    const method = 'notifications/resources/updated';
    if (subscribed) send({ method, params: { uri: URI } });
    for (const [id, wanted] of streams) {
      if (wanted) send({ method, params: { uri: URI, _meta: { [SUBSCRIPTION_KEY]: id } } });
    }
  });
}
