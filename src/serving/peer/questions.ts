/** Requests to a client of 2025: each has an id, and waits until it is answered, cancelled, or timed out. */
import type { Data } from '../../protocol/data.ts';
import type { ResponseMessage } from '../messages.ts';

export interface Question {
  readonly method: string;
  readonly params?: Data | undefined;
  /** Whether the client may report progress. */
  readonly reports?: boolean | undefined;
  /** Sends the request, and later messages about it, to the client. */
  readonly send: (message: object) => void;
  readonly signal?: AbortSignal | undefined;
  /** How long the client may take, in milliseconds; each progress report starts the time anew. */
  readonly timeoutMs: number;
}

export interface Questions {
  /**
   * Asks the client, and returns its answer.
   * @throws Declined if the client refuses; an error if it takes too long, or on `signal`
   */
  ask(question: Question): Promise<unknown>;
  /** Handles a response; returns whether it answers a question of this object. Unknown responses are ignored. */
  answered(response: ResponseMessage): boolean;
  /** Handles a progress report; returns whether it belongs to a question of this object. */
  progressed(params: Data | undefined): boolean;
  /** Cancels all waiting questions. */
  close(): void;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly wait: () => void;
}

/** A client's refusal, with the client's message. */
export class Declined extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor({ code, message, data }: NonNullable<ResponseMessage['error']>) {
    super(message);
    this.name = 'Declined';
    this.code = code;
    this.data = data;
  }
}

/** Reads an id that a client sends back. Some clients send the number as a text. */
function numberOf(id: unknown): number | undefined {
  if (typeof id === 'number') return id;
  return typeof id === 'string' && /^\d{1,16}$/.test(id) ? Number(id) : undefined;
}

/** @param first the id of the first question: replicas that ask the same client use distant ids */
export function createQuestions(first = 0): Questions {
  const waiting = new Map<number, Waiting>();
  const questionOf = (id: unknown): Waiting | undefined => {
    const number = numberOf(id);
    return number === undefined ? undefined : waiting.get(number);
  };
  let count = first;
  let closed = false;

  return {
    ask({ method, params, reports = false, send, signal, timeoutMs }) {
      return new Promise((resolve, reject) => {
        if (closed) return reject(new Error('Connection closed'));
        if (signal?.aborted === true) return reject(new Error(String(signal.reason)));
        const id = count++;
        let timer: NodeJS.Timeout;
        const done = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', taken);
          waiting.delete(id);
        };
        const giveUp = (error: Error): void => {
          done();
          const reason = `${error}`;
          send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } });
          reject(error);
        };
        const taken = (): void =>
          giveUp(signal?.reason instanceof Error ? signal.reason : new Error(String(signal?.reason)));
        const wait = (): void => {
          clearTimeout(timer);
          timer = setTimeout(() => giveUp(new Error('Request timed out')), timeoutMs);
        };
        waiting.set(id, {
          resolve(result) {
            done();
            resolve(result);
          },
          reject(error) {
            done();
            reject(error);
          },
          wait,
        });
        signal?.addEventListener('abort', taken, { once: true });
        wait();
        const asked = reports
          ? { ...params, _meta: { ...(params?._meta as object | undefined), progressToken: id } }
          : params;
        try {
          send({ jsonrpc: '2.0', id, method, ...(asked !== undefined && { params: asked }) });
        } catch (error) {
          // JSON cannot express the question, so the client never gets it.
          done();
          reject(error);
        }
      });
    },
    answered({ id, result, error }) {
      const question = questionOf(id);
      if (error === undefined) question?.resolve(result);
      else question?.reject(new Declined(error));
      return question !== undefined;
    },
    progressed(params) {
      const question = questionOf(params?.progressToken);
      question?.wait();
      return question !== undefined;
    },
    close() {
      closed = true;
      for (const question of [...waiting.values()]) question.reject(new Error('Connection closed'));
    },
  };
}
