/** 2026-07-28 over HTTP: each request is independent. The answer is JSON, or a stream of events for several messages. */
import { createContext, type Log, type Principal } from '../../core/context.ts';
import { inTime } from '../../core/waiting/in-time.ts';
import type { Engine } from '../../engine/index.ts';
import { MISSING_CAPABILITY } from '../../protocol/error-codes.ts';
import { ANSWER_GRACE_MS, Expiry } from '../auth/expiry.ts';
import { answerOf, drop, holdAnswer, wholeText } from '../dispatch/answer.ts';
import { cutShort } from '../dispatch/cut-short.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { NO_SUCH_METHOD } from '../dispatch/dispatcher.ts';
import type { Failure, Outcome } from '../dispatch/envelope.ts';
import { discovered, standingAlone } from '../dispatch/standing-alone.ts';
import { filterIn, type Listener, listen } from '../listening/listening.ts';
import type { ListenFilter } from '../listening/prepare.ts';
import type { MessageId, RequestMessage } from '../messages.ts';
import { EVENT_HEADERS, type EventStream, type EventStreams, frameOf } from './events.ts';
import { GONE, type HttpAnswer, type HttpRequest, json, refusal } from './exchange.ts';
import { tooMany } from './floods.ts';
import { refuseParamHeaders } from './param-headers.ts';
import { retryHeaders } from './retry-after.ts';

export interface ModernLimits {
  /** The most listen streams at a time. */
  readonly maxStreams: number;
}

export const DEFAULT_MODERN_LIMITS: ModernLimits = { maxStreams: 1_024 };

/** The longest wait at the end for listen requests that place their watches, in milliseconds: a provider may ignore its signal. */
const PREPARING_MS = 1_000;

/** A request whose body has been read, and whose sender is authenticated. */
export interface HttpCall {
  readonly http: HttpRequest;
  readonly principal: Principal;
  /**
   * When the authentication expires, in milliseconds since 1970. A listen stream ends at that time. A stream with the answer to a
   * request ends `ANSWER_GRACE_MS` later. Default: never.
   */
  readonly expiresAt: number | undefined;
}

export interface Modern {
  /** Returns a kept answer that is still valid; undefined otherwise, without side effects. */
  again(call: HttpCall, message: RequestMessage): HttpAnswer | undefined;
  /** @param message undefined for a notification, which has no effect */
  handle(call: HttpCall, message: RequestMessage | undefined): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface ModernOptions {
  readonly engine: Engine;
  readonly dispatcher: Dispatcher;
  readonly streams: EventStreams;
  readonly log: Log;
  readonly limits: ModernLimits;
}

export function createModern({ engine, dispatcher, streams, log, limits }: ModernOptions): Modern {
  /** Functions that end running requests, and tell their clients that the server shuts down. */
  const running = new Set<() => void>();
  const ending = new Set<Promise<void>>();
  /** The listen requests that are placing their watches, and functions that tell them to stop. */
  const preparing = new Map<Promise<unknown>, () => void>();
  let listening = 0;
  let closed = false;

  function answered(id: MessageId, outcome: Outcome): HttpAnswer {
    const body = answerOf(id, outcome);
    const sent = holdAnswer(engine.admission, body);
    if (!('error' in outcome)) return { status: 200, headers: JSON_TYPE, body, sent };
    return { status: statusOf(outcome), headers: { ...JSON_TYPE, ...retryHeaders(outcome.cause) }, body, sent };
  }

  function lastEvent(stream: EventStream, id: MessageId, outcome: Outcome): void {
    stream.write(frameOf(wholeText(answerOf(id, outcome))));
    stream.end();
  }

  function respond(call: HttpCall, message: RequestMessage): Promise<HttpAnswer> {
    return new Promise((resolve) => {
      const { http, principal, expiresAt } = call;
      let stream: ReturnType<EventStreams['open']> | undefined;
      /** Whether the answer is no longer needed. */
      let over = false;
      const open = (): NonNullable<typeof stream> => {
        stream = streams.open();
        if (expiresAt !== undefined) endAt(stream, expiresAt, ANSWER_GRACE_MS);
        // The answer has been sent, or nobody can get it any more.
        stream.onEnd(() => http.abort());
        resolve({ status: 200, headers: EVENT_HEADERS, body: stream });
        return stream;
      };
      const goodbye = (): void => {
        over = true;
        http.abort();
        const outcome = cutShort(message.method);
        if (stream === undefined) resolve(answered(message.id, outcome));
        else lastEvent(stream, message.id, outcome);
      };
      running.add(goodbye);
      const envelope = standingAlone(message, {
        principal,
        peer: undefined,
        log,
        signal: http.signal,
        tell: (notification) => (stream ?? open()).write(frameOf(JSON.stringify({ jsonrpc: '2.0', ...notification }))),
        headers: http.headers,
        transport: 'tcp',
      });
      void dispatcher.dispatch(envelope).then((outcome) => {
        running.delete(goodbye);
        if (over) return drop(message.id, outcome);
        if (stream === undefined) return resolve(answered(message.id, outcome));
        lastEvent(stream, message.id, outcome);
      });
    });
  }

  async function openListening(call: HttpCall, message: RequestMessage): Promise<HttpAnswer> {
    const { principal } = call;
    if (closed) return shuttingDown();
    const found = filterIn(message);
    if ('error' in found) return answered(message.id, found);
    if (listening >= limits.maxStreams)
      return json(200, {
        jsonrpc: '2.0',
        error: { code: -32_603, message: 'Subscription limit reached' },
        id: message.id,
      });
    const streamEnded = engine.telemetry?.opened('stream', 'tcp');
    let leave = (): void => {};
    const over = (): void => {
      listening--;
      leave();
      streamEnded?.();
    };
    listening++;
    const stream = streams.open();
    let listener: Listener;
    try {
      leave = engine.admission.hold('streams', principal);
      listener = await prepared(message, found.filter, call, stream);
    } catch (error) {
      over();
      stream.leave();
      if (closed) return shuttingDown();
      return tooMany(error, message.id);
    }
    return attended(call, listener, stream, over);
  }

  function prepared(message: RequestMessage, filter: ListenFilter, call: HttpCall, stream: EventStream) {
    const { principal, http } = call;
    const { signal } = http;
    const from = { principal, peer: undefined, log, signal, tell() {}, headers: undefined, transport: 'tcp' } as const;
    const ctx = createContext({ principal, signal, log, client: standingAlone(message, from).client });
    const tell = toldOn(stream);
    return engine.admission.run({ method: message.method }, ctx, () => listen(engine, message.id, filter, ctx, tell));
  }

  /** Answers until the client leaves, its authentication expires, or the server ends. @param over called at the end */
  function attended(
    { http, expiresAt }: HttpCall,
    listener: Listener,
    stream: EventStream,
    over: () => void,
  ): HttpAnswer {
    const goodbye = (): void => {
      listener.goodbye();
      stream.end();
    };
    stream.onEnd(() => {
      over();
      const closing: Promise<void> = listener
        .close()
        .catch((error: unknown) => log.warn('a watch did not end', { error }))
        .finally(() => ending.delete(closing));
      ending.add(closing);
      running.delete(goodbye);
      http.abort();
    });
    if (closed || http.signal.aborted) {
      stream.leave();
      return closed ? shuttingDown() : refusal(503, -32_000, 'The request was cancelled');
    }
    running.add(goodbye);
    if (expiresAt !== undefined) endAt(stream, expiresAt, 0);
    if (!listener.begin()) goodbye();
    http.forget?.();
    return { status: 200, headers: EVENT_HEADERS, body: stream };
  }

  return {
    again({ principal }, message) {
      const outcome = closed
        ? undefined
        : dispatcher.again(message, { era: 'modern', principal, peer: undefined, log });
      return outcome && answered(message.id, outcome);
    },
    async handle(call, message) {
      if (message === undefined) return { status: 202 };
      const { http, principal } = call;
      if (message.method === 'subscriptions/listen') {
        const opening = openListening(call, message);
        preparing.set(opening, () => http.abort());
        return opening.finally(() => preparing.delete(opening));
      }
      if (message.method === 'server/discover') return answered(message.id, { result: discovered(engine, principal) });
      const refused = await refuseParamHeaders(engine, http, message, principal);
      if (refused !== undefined) return refused;
      return closed ? GONE : respond(call, message);
    },
    async close() {
      closed = true;
      for (const end of [...running]) end();
      for (const stop of preparing.values()) stop();
      await inTime(Promise.allSettled([...preparing.keys()]), PREPARING_MS);
      await Promise.allSettled([...ending]);
    },
  };
}

const shuttingDown = (): HttpAnswer => refusal(503, -32_000, 'The server is shutting down');

const toldOn =
  (stream: EventStream) =>
  (message: object): void =>
    stream.write(frameOf(JSON.stringify(message)));

/**
 * Returns the HTTP status of an error: 404 for an unknown method, 400 if the client lacks a needed capability, and 200 for all
 * others (2026-07-28, Streamable HTTP).
 */
function statusOf(outcome: Failure): number {
  if (outcome === NO_SUCH_METHOD) return 404;
  return outcome.error.code === MISSING_CAPABILITY ? 400 : 200;
}

const JSON_TYPE = { 'Content-Type': 'application/json' } as const;

/** Ends a stream when its client's authentication expires. */
function endAt(stream: ReturnType<EventStreams['open']>, expiresAt: number, graceMs: number): void {
  const forget = new Expiry(expiresAt).onEnd(() => stream.end(), graceMs);
  stream.onEnd(forget);
}
