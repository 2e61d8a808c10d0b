/**
 * Manages running calls to a server, and passes the questions of a 2025-era server to the client that waits. A client of
 * the same era gets them directly. For any other client they become the answer to its request, and the call waits here for
 * the client's next request.
 */
import type { JSONRPCRequest } from '@modelcontextprotocol/client';
import type { Data } from '../../connection/data.ts';
import { ORIGIN_META_KEY } from '../../connection/message-origin.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ClientFeatures, Invocation, LoggingLevel } from '../../core/invocation.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import { canBeAsked, notDeclared } from '../../protocol/askable.ts';
import { isData } from '../../protocol/data.ts';
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import { type InputRequest, type InputRequired, inputRequired } from '../../protocol/input-required.ts';
import type { Lease } from './connections.ts';
import type { Said } from './said.ts';
import type { Link } from './wire/link.ts';

/** How long a call waits for its client to answer, in milliseconds. */
const PARKED_MS = 10 * 60_000;

/** The most calls that wait for their clients. */
const MAX_PARKED = 1_000;

/** How long a read that its client gave up may still take, in milliseconds. */
const FINISH_MS = 2_000;

interface Question {
  readonly request: InputRequest;
  readonly answer: (answer: Data) => void;
  readonly refuse: (error: unknown) => void;
}

interface Call {
  readonly id: string;
  readonly principal: string;
  /** The capabilities that its client declared. */
  readonly declared: ClientFeatures['declared'];
  readonly lease: Lease;
  result: Promise<Data>;
  readonly abort: AbortController;
  /** The present round; undefined while the call waits for its client. */
  invocation: Invocation | undefined;
  readonly questions: Map<string, Question>;
  /** Wakes the waiting round. */
  wake: () => void;
  timer: NodeJS.Timeout | undefined;
  /** Ends a read that its client gave up; undefined while there is a client. */
  finishing: NodeJS.Timeout | undefined;
  asked: number;
}

export interface Calls {
  /** Runs a call until it has a result, or a question that the client answers with a new request. */
  run(invocation: Invocation, start: Start): Promise<Outcome>;
  /**
   * Handles a question from a connection.
   * @param signal aborted when the server cancels the question
   * @throws Error if no client can be asked this question; the signal's reason
   */
  asked(
    link: Link | undefined,
    ask: ClientFeatures['ask'],
    request: JSONRPCRequest,
    signal: AbortSignal,
  ): Promise<Data>;
  /** Handles a log message from a connection. */
  logged(link: Link, params: Data): void;
  close(): void;
}

/** The server's result, or questions for the client while the call waits. */
export type Outcome = { readonly result: Data } | { readonly asks: InputRequired };

export interface Start {
  /**
   * Whether this only reads. A read that its client gives up may finish, since its connection can then be used again: a program
   * that would be ended with it has a state.
   */
  readonly reads?: boolean;
  lease(): Promise<Lease>;
  /** Sends the request to the server. */
  send(lease: Lease, sending: Sending): Promise<Data>;
}

export interface Sending {
  readonly signal: AbortSignal;
  readonly progress: Invocation['progress'];
  /** Distinguishes log messages of this call from others. */
  readonly origin: string;
}

/** The result of a call that has not been sent yet. */
const PENDING = new Promise<never>(() => {});

/** @param said cleans log messages for the client */
export function createCalls(said: Pick<Said, 'text' | 'data' | 'others'>): Calls {
  const running = new Map<Link, Call[]>();
  const parked = new Map<string, Call>();

  async function begin(invocation: Invocation, { lease: take, send }: Start): Promise<Call> {
    const lease = await take();
    const abort = new AbortController();
    const progress: Invocation['progress'] = (...args) => call.invocation?.progress(...args);
    const call: Call = {
      id: crypto.randomUUID(),
      principal: invocation.principal.id,
      declared: invocation.client.declared,
      lease,
      abort,
      result: PENDING,
      invocation,
      questions: new Map(),
      wake: () => {},
      timer: undefined,
      finishing: undefined,
      asked: 0,
    };
    const others = running.get(lease.link) ?? [];
    running.set(lease.link, [...others, call]);
    const result = send(lease, { signal: abort.signal, progress, origin: call.id });
    call.result = result;
    result.then(
      () => end(call, true),
      (error: unknown) => end(call, !abort.signal.aborted && error instanceof ResourceError && !error.retryable),
    );
    return call;
  }

  function end(call: Call, clean: boolean): void {
    const { link } = call.lease;
    const others = (running.get(link) ?? []).filter((each) => each !== call);
    if (others.length === 0) running.delete(link);
    else running.set(link, others);
    clearTimeout(call.finishing);
    for (const question of call.questions.values()) question.refuse(new Error('The call has ended'));
    call.questions.clear();
    call.lease.release(clean);
    // A call that ended while its client was away keeps its result for it.
    if (call.timer === undefined) parked.delete(call.id);
  }

  /** Lets a read without a client finish. */
  function leave(call: Call, reason: unknown): void {
    call.lease.leave?.();
    call.finishing = setTimeout(() => call.abort.abort(reason), FINISH_MS);
    call.finishing.unref();
  }

  /** Runs one round: until the result, or until there are questions that only the next round can answer. */
  async function round(call: Call, invocation: Invocation, reads: boolean): Promise<Outcome> {
    call.invocation = invocation;
    const { signal } = invocation;
    const mayFinish = reads && call.lease.leave !== undefined;
    const cancel = (): void => (mayFinish ? leave(call, signal.reason) : call.abort.abort(signal.reason));
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const woken = new Promise<'asked'>((resolve) => {
      call.wake = () => resolve('asked');
      if (call.questions.size > 0) resolve('asked');
    });
    try {
      const first = Promise.race([call.result, woken]);
      const got = await (mayFinish ? abortable(first, signal) : first);
      return got === 'asked' ? { asks: park(call, invocation) } : { result: got };
    } finally {
      signal.removeEventListener('abort', cancel);
      call.wake = () => {};
      call.invocation = undefined;
    }
  }

  function park(call: Call, invocation: Invocation): InputRequired {
    if (parked.size >= MAX_PARKED && !parked.has(call.id)) {
      call.abort.abort(new ResourceError('limited', 'Too many calls are waiting for their clients'));
      throw new ResourceError('limited', 'Too many calls are waiting for answers of their clients; try again later');
    }
    parked.set(call.id, call);
    call.timer = setTimeout(() => {
      parked.delete(call.id);
      call.abort.abort(new ResourceError('timeout', 'The client did not send an answer in time'));
    }, PARKED_MS);
    call.timer.unref();
    const requests = Object.fromEntries([...call.questions].map(([key, { request }]) => [key, request]));
    return inputRequired(requests, invocation.seal({ parked: call.id }));
  }

  /** Finds the call that the client's answer is for. */
  function resume({ state, principal, answers }: Invocation): Call | undefined {
    const id = isData(state) ? state.parked : undefined;
    if (typeof id !== 'string') return undefined;
    const call = parked.get(id);
    if (call === undefined || call.principal !== principal.id) {
      throw new ResourceError('invalid', 'The call that waited for this answer has ended; call again');
    }
    parked.delete(id);
    clearTimeout(call.timer);
    call.timer = undefined;
    for (const [key, question] of call.questions) {
      const answer = answers[key];
      if (typeof answer !== 'object' || answer === null) continue;
      call.questions.delete(key);
      question.answer(answer as Data);
    }
    return call;
  }

  /** Finds the call that a question belongs to: the latest call of the single client that owns the connection. */
  const callOf = (link: Link): Call | undefined => (running.get(link) ?? []).findLast((call) => call.lease.own);

  /**
   * Finds the call that a log message belongs to: the call that its origin names. Without an origin, in 2025 the latest call of
   * the single client; in 2026 the only call that wants log messages.
   */
  function authorOf(link: Link, origin: unknown): Call | undefined {
    const calls = running.get(link) ?? [];
    if (origin !== undefined) return calls.find((call) => call.id === origin);
    if (link.era === 'legacy') return callOf(link);
    const wanting = calls.filter((call) => call.invocation?.client.logLevel !== undefined);
    return wanting.length === 1 ? wanting[0] : undefined;
  }

  return {
    async run(invocation, start) {
      const call = resume(invocation) ?? (await begin(invocation, start));
      return round(call, invocation, start.reads === true);
    },

    async asked(link, otherwise, { method, params }, signal) {
      signal.throwIfAborted();
      const call = link === undefined ? undefined : callOf(link);
      if (call?.finishing !== undefined) {
        const reason = new Error('The client has given up the read');
        call.abort.abort(reason);
        throw reason;
      }
      const request = { method, ...(params !== undefined && { params }) } as InputRequest;
      const ask = call === undefined ? otherwise : call.invocation?.client.ask;
      if (ask !== undefined) return (await ask(request, signal)) as Data;
      if (call === undefined) throw new Error('No client that could be asked is using this server now');
      if (!canBeAsked(request, call.declared))
        throw Object.assign(new Error(notDeclared(method)), { code: METHOD_NOT_FOUND });
      const key = `${method.split('/', 1)[0]}-${++call.asked}`;
      const answered = new Promise<Data>((answer, refuse) => call.questions.set(key, { request, answer, refuse }));
      // Questions that the server asks at the same time go to the client in one round.
      setImmediate(() => {
        if (call.questions.size > 0) call.wake();
      });
      return abortable(answered, signal).finally(() => call.questions.delete(key));
    },

    logged(link, { level, data, logger, _meta, ...others }) {
      const { [ORIGIN_META_KEY]: origin, ...meta } = (_meta ?? {}) as Data;
      const invocation = authorOf(link, origin)?.invocation;
      if (typeof level !== 'string') return;
      const who = typeof logger === 'string' ? said.text(logger) : null;
      invocation?.notify(level as LoggingLevel, said.data(data), who, said.others({ ...others, _meta: meta }));
    },

    close() {
      const shutDown = new ResourceError('unavailable', 'The server is shutting down');
      for (const calls of running.values()) for (const call of calls) call.abort.abort(shutDown);
      for (const call of parked.values()) clearTimeout(call.timer);
      parked.clear();
    },
  };
}
