/** Requests on behalf of one client: over the connection that there is, answered from the cache where that may be. */
import type { Cache, Question } from './cache.ts';
import type { Connection } from './connection.ts';
import { ResourceClientError } from './errors.ts';
import type { Data, Link } from './link.ts';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, and the request where nobody else waits for it. The call throws its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for one request. Default: `timeoutMs` of the client. */
  readonly timeoutMs?: number | undefined;
  /** Asks the server, whatever is kept. What it answers is kept. Default false. */
  readonly fresh?: boolean | undefined;
}

export interface Asking {
  readonly connection: Connection;
  readonly cache: Cache;
  /** One request, asked once for all who ask the same at the same time, and kept as long as the answer says. */
  ask(question: Question, params: Data, options: CallOptions): Promise<Answer>;
  /** The same without the cache. */
  request(link: Link, method: string, params: Data, options: CallOptions): Promise<Data>;
}

export interface Answer {
  readonly value: Data;
  readonly cached: boolean;
}

const askings = new WeakMap<object, Asking>();

/** Remembers by what a client asks, for functions of this package that are beside it. */
export const setAsking = (client: object, asking: Asking): void => void askings.set(client, asking);

/** @throws ResourceClientError `invalid` for an object that `createResourceClient` has not made */
export function askingOf(client: object): Asking {
  const asking = askings.get(client);
  if (asking === undefined) throw new ResourceClientError('invalid', 'The client is not one of createResourceClient');
  return asking;
}

export function createAsking(connection: Connection, cache: Cache, timeoutMs: number): Asking {
  async function request(link: Link, method: string, params: Data, options: CallOptions): Promise<Data> {
    const limits = { timeoutMs: options.timeoutMs ?? timeoutMs, signal: options.signal };
    try {
      return await link.request(method, params, limits);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!link.ended) throw error;
      // The connection was lost before it was asked, or over it. Asking again does no harm: nothing but reading is done here.
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
