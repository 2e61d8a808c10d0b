/** Sends requests for one client over its connection, or answers them from the cache. */
import type { Cache, Question } from './cache.ts';
import type { Connection } from './connection.ts';
import { ResourceClientError } from './errors.ts';
import type { Data, Link } from './link.ts';
import { timerMs } from './time-limit.ts';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, and also the request where no other call waits for it. The call throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for one request, above 0; at most 2,147,483,647, also for `Infinity`. Default: `timeoutMs` of the client. */
  readonly timeoutMs?: number | undefined;
  /** Asks the server even where the cache has an answer, and caches the new answer. Default false. */
  readonly fresh?: boolean | undefined;
}

export interface Asking {
  readonly connection: Connection;
  readonly cache: Cache;
  /**
   * Answers from the cache, or sends one request for all callers that ask the same at the same time. Caches the answer as long
   * as the server allows.
   */
  ask(question: Question, params: Data, options: CallOptions): Promise<Answer>;
  /** Sends a request without using the cache. */
  request(link: Link, method: string, params: Data, options: CallOptions): Promise<Data>;
}

export interface Answer {
  readonly value: Data;
  readonly cached: boolean;
}

const askings = new WeakMap<object, Asking>();

/** Records how a client asks, for other functions of this package. */
export const setAsking = (client: object, asking: Asking): void => void askings.set(client, asking);

/** @throws ResourceClientError `invalid` for an object that `createResourceClient` has not made */
export function askingOf(client: object): Asking {
  const asking = askings.get(client);
  if (asking === undefined) throw new ResourceClientError('invalid', 'The client was not made by createResourceClient');
  return asking;
}

export function createAsking(connection: Connection, cache: Cache, timeoutMs: number): Asking {
  async function request(link: Link, method: string, params: Data, options: CallOptions): Promise<Data> {
    const limits = { timeoutMs: timerMs(options.timeoutMs ?? timeoutMs, 'timeoutMs'), signal: options.signal };
    try {
      return await link.request(method, params, limits);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!link.ended) throw error;
      // The connection was lost before or during the request. Repeating is safe, since these requests only read.
      const next = await connection.get(options.signal).catch(() => undefined);
      if (next === undefined || next === link) throw error;
      return next.request(method, params, limits);
    }
  }
  return {
    connection,
    cache,
    request,
    async ask(question, params, options) {
      options.signal?.throwIfAborted();
      if (options.fresh !== true) {
        const kept = await cache.get(question);
        if (kept?.fresh === true) return { value: kept.value, cached: true };
      }
      const name = JSON.stringify([question.method, question.uri, question.part, options.timeoutMs]);
      return cache.once(name, options.signal, async (signal) => {
        const link = await connection.get(signal);
        const since = cache.mark();
        const value = await request(link, question.method, params, { ...options, signal });
        await cache.put(question, value, since);
        return { value, cached: false };
      });
    },
  };
}
