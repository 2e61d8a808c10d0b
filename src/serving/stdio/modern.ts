/** Serves a stdio connection in revision 2026-07-28: answers its requests, keeps its listen requests, and cancels both. */
import { ANONYMOUS, type ClientFeatures, createContext, type Log } from '../../core/context.ts';
import type { Engine } from '../../engine/index.ts';
import { INVALID_PARAMS } from '../../protocol/error-codes.ts';
import { type Answer, answerOf, drop } from '../dispatch/answer.ts';
import { cutShort } from '../dispatch/cut-short.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { Envelope, Outcome } from '../dispatch/envelope.ts';
import { discovered, standingAlone } from '../dispatch/standing-alone.ts';
import { filterIn, Listener } from '../listening/listening.ts';
import type { MessageId, NotificationMessage, RequestMessage } from '../messages.ts';

/** The most requests of one connection that listen at the same time. */
const MAX_LISTENERS = 1_024;

export interface ModernConnection {
  /** Answers a request. @returns a promise if the next messages have to wait for it */
  request(message: RequestMessage): Promise<void> | undefined;
  notification(message: NotificationMessage): void;
  /** The number of requests that have not been answered. A listen request counts only until it is acknowledged. */
  readonly unanswered: number;
  /** Cancels all requests. @param goodbye whether each of them gets an answer that says that the server ends */
  close(goodbye: boolean): Promise<void>;
}

export interface ModernConnectionOptions {
  readonly engine: Engine;
  readonly dispatcher: Dispatcher;
  readonly log: Log;
  /** Sends a message in JSON. */
  readonly write: (json: Answer) => void;
  /** Called after each answer. */
  readonly answered: () => void;
  /** Called with the features of the client before each request. The request waits for it. */
  readonly introduced?: ((client: ClientFeatures) => Promise<void>) | undefined;
}

export function createModernConnection(options: ModernConnectionOptions): ModernConnection {
  const { engine, dispatcher, log, write, answered, introduced } = options;
  const send = (message: object): void => write(JSON.stringify(message));
  const peer = crypto.randomUUID();
  /** The functions that cancel the running requests; with `goodbye`, the request gets an answer that says that the server ends. */
  const running = new Map<MessageId, (reason: unknown, goodbye?: boolean) => void>();
  const listeners = new Map<MessageId, Listener>();
  /** Listeners whose watches are being placed, each with a function that cancels its request. */
  const preparing = new Map<Listener, (reason: unknown, goodbye: boolean) => void>();
  let unanswered = 0;
  // The subscription tools note their subscriptions by peer, for as long as the connection lasts.
  const link = { add: async () => {}, remove: async () => {} };
  const disconnect = engine.toolSubscriptions?.connect(peer, link);

  const envelopeOf = (message: RequestMessage, signal: AbortSignal): Envelope =>
    standingAlone(message, {
      principal: ANONYMOUS,
      peer,
      log,
      signal,
      tell: (notification) => send({ jsonrpc: '2.0', ...notification }),
      headers: undefined,
      transport: 'pipe',
    });

  async function outcomeOf(message: RequestMessage, signal: AbortSignal): Promise<Outcome> {
    const envelope = envelopeOf(message, signal);
    if (introduced !== undefined) await introduced(envelope.client);
    return message.method === 'server/discover'
      ? { result: discovered(engine, ANONYMOUS) }
      : dispatcher.dispatch(envelope);
  }

  function run(message: RequestMessage): void {
    const { id } = message;
    const abort = new AbortController();
    let open = true;
    const settle = (): void => {
      open = false;
      if (running.get(id) === cancel) running.delete(id);
      unanswered--;
      answered();
    };
    // A cancelled request gets no answer, even if its work goes on.
    const cancel = (reason: unknown, goodbye = false): void => {
      abort.abort(reason);
      if (!open) return;
      if (goodbye) write(answerOf(id, cutShort(message.method)));
      settle();
    };
    running.set(id, cancel);
    unanswered++;
    void outcomeOf(message, abort.signal).then((outcome) => {
      if (!open) return drop(id, outcome);
      write(answerOf(id, outcome));
      settle();
    });
  }

  async function openListening(message: RequestMessage): Promise<void> {
    const { id } = message;
    const found = filterIn(message);
    if ('error' in found) return write(answerOf(id, found));
    if (listeners.size >= MAX_LISTENERS)
      return write(answerOf(id, { error: { code: -32_603, message: 'Subscription limit reached' } }));
    const abort = new AbortController();
    const { signal } = abort;
    const { client } = envelopeOf(message, signal);
    const listener = new Listener(engine, id, send);
    preparing.set(listener, (reason, goodbye) => {
      abort.abort(reason);
      if (goodbye) write(answerOf(id, cutShort(message.method)));
    });
    try {
      await introduced?.(client);
      if (!signal.aborted) await listener.prepare(found.filter, createContext({ peer, log, client, signal }));
    } finally {
      preparing.delete(listener);
    }
    // The connection has closed meanwhile, and the listener with it.
    if (signal.aborted) return;
    const former = listeners.get(id);
    listeners.set(id, listener);
    listener.begin();
    await former?.close();
  }

  const closed = (listener: Listener): Promise<void> =>
    listener.close().catch((error: unknown) => log.warn('a watch did not end', { error }));

  return {
    request(message) {
      if (message.method === 'subscriptions/listen') {
        unanswered++;
        return openListening(message)
          .catch((error: unknown) => log.warn('a listen request failed', { error }))
          .finally(() => {
            unanswered--;
            answered();
          });
      }
      run(message);
      return undefined;
    },
    notification({ method, params }) {
      if (method !== 'notifications/cancelled') return;
      const id = params?.requestId as MessageId;
      const listener = listeners.get(id);
      listeners.delete(id);
      if (listener !== undefined) void closed(listener);
      else running.get(id)?.(params?.reason);
    },
    get unanswered() {
      return unanswered;
    },
    async close(goodbye) {
      if (goodbye) for (const listener of listeners.values()) listener.goodbye();
      const left = [...listeners.values(), ...preparing.keys()];
      for (const cancel of [...running.values(), ...preparing.values()])
        cancel(new Error('Connection closed'), goodbye);
      await Promise.all(left.map(closed));
      await disconnect?.();
    },
  };
}

/** The refusal of a request without the `_meta` that 2026-07-28 requires. */
export const NO_ENVELOPE: Outcome = {
  error: {
    code: INVALID_PARAMS,
    message:
      'Request is missing the required _meta envelope for protocol revision 2026-07-28 (io.modelcontextprotocol/protocolVersion, io.modelcontextprotocol/clientCapabilities)',
  },
};
