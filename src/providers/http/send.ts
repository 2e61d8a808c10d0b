/** Sends one request: applies deadlines, follows redirects one by one, and sends credentials to their own origin only. */
import type { Dispatcher } from 'undici';
import { ResourceError } from '../../core/errors.ts';
import { VERSION } from '../../core/version.ts';
import type { Limits } from './config.ts';
import { faultOf } from './fault.ts';

/** Headers and query parameters that are sent to one origin only. They may hold credentials. */
export interface Access {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

export interface WebRequest {
  readonly method: 'GET' | 'HEAD';
  /** Canonical, without a fragment. Its origin is the one that `access` is for. */
  readonly url: URL;
  readonly access: Access;
  /** Headers without credentials, in lower case. They are sent to the targets of redirects, too. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The URI that errors name. */
  readonly uri: string;
}

export interface WebAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** The bytes as they are sent. Ending the iteration early ends the answer. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Ends the answer, read or not. Safe to call twice. */
  close(): void;
}

export type Send = (request: WebRequest) => Promise<WebAnswer>;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Makes the function that sends requests. Throws ResourceError `timeout`, `unavailable` or `denied`, or the signal's reason. */
export function createSend(dispatcher: Dispatcher, limits: Limits): Send {
  return async (request) => {
    const { method, url: start, access, signal, uri } = request;
    const over = new AbortController();
    const end = (): void => {
      clearTimeout(total);
      clearTimeout(begin);
    };
    const expire = (what: string): void => {
      over.abort(new ResourceError('timeout', `${what} in time`, { uri }));
      end();
    };
    const total = setTimeout(() => expire('The web server has not sent its answer'), limits.timeoutMs);
    const begin = setTimeout(() => expire('The web server has not begun to answer'), limits.headersTimeoutMs);
    const either = AbortSignal.any([signal, over.signal]);

    try {
      let url = start;
      let trusted = true;
      for (let hops = 0; ; hops++) {
        const { statusCode, headers, body } = await dispatcher.request({
          origin: url.origin,
          path: `${url.pathname}${trusted ? withQuery(url.search, access.query) : url.search}`,
          method,
          headers: {
            'user-agent': `vitrine/${VERSION}`,
            ...request.headers,
            ...(trusted ? lowerCase(access.headers) : {}),
          },
          signal: either,
        });
        const location = headerOf(headers, 'location');
        if (!REDIRECTS.has(statusCode) || location === undefined) {
          clearTimeout(begin);
          const close = (): void => {
            end();
            discard(body, method === 'HEAD' || statusCode === 304);
          };
          return {
            status: statusCode,
            header: (name) => headerOf(headers, name),
            chunks: chunksOf(body, { over, idleMs: limits.idleTimeoutMs, uri, signal, end }),
            close,
          };
        }
        discard(body);
        if (hops >= limits.maxRedirects) throw unavailable('The web server redirects too often', uri);
        url = nextUrl(location, url, uri);
        // Once a redirect has led to another origin, even a URL of the first one was chosen by somebody else.
        trusted &&= url.origin === start.origin;
      }
    } catch (error) {
      end();
      signal.throwIfAborted();
      throw faultOf(over.signal.aborted ? over.signal.reason : error, uri);
    }
  };
}

interface Deadlines {
  readonly over: AbortController;
  readonly idleMs: number;
  readonly uri: string;
  readonly signal: AbortSignal;
  readonly end: () => void;
}

/** Yields the bytes of an answer. The time limit between two chunks counts only while somebody waits for the next one. */
async function* chunksOf(
  body: Dispatcher.ResponseData['body'],
  { over, idleMs, uri, signal, end }: Deadlines,
): AsyncIterable<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      signal.throwIfAborted();
      const idle = setTimeout(
        () => over.abort(new ResourceError('timeout', 'The web server stopped sending', { uri })),
        idleMs,
      );
      const { done, value } = await iterator.next().finally(() => clearTimeout(idle));
      if (done) return;
      yield value as Uint8Array;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw faultOf(over.signal.aborted ? over.signal.reason : error, uri);
  } finally {
    end();
    discard(body);
  }
}

/** The most bytes that are read of an unwanted body, and the most milliseconds, so that its connection can be used again. */
const UNREAD_BYTES = 64 * 1024;
const UNREAD_MS = 1_000;

/** Ends a body. If it is long, or was read in part, its connection is closed. */
function discard(body: Dispatcher.ResponseData['body'], empty = false): void {
  body.on('error', () => {});
  if (body.destroyed || body.readableEnded) return;
  if (empty) body.resume();
  else if (body.readableDidRead) body.destroy();
  else body.dump({ limit: UNREAD_BYTES, signal: AbortSignal.timeout(UNREAD_MS) }).catch(() => {});
}

/** Returns the target of a redirect. @throws ResourceError `unavailable` for another scheme, or a location that is no URL */
function nextUrl(location: string, from: URL, uri: string): URL {
  if (!URL.canParse(location, from.href)) throw unavailable('The web server redirects to nowhere', uri);
  const next = new URL(location, from);
  if (next.protocol !== from.protocol) {
    const upgrade = next.protocol === 'https:' ? '; configure the address with https:' : '';
    throw unavailable(`The web server redirects to another scheme${upgrade}`, uri);
  }
  if (next.username !== '' || next.password !== '')
    throw unavailable('The web server redirects to an address with a user in it', uri);
  next.hash = '';
  return next;
}

function withQuery(search: string, query: Readonly<Record<string, string>>): string {
  const added = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  if (added.length === 0) return search;
  return `${search === '' ? '?' : `${search}&`}${added.join('&')}`;
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

function headerOf(headers: Dispatcher.ResponseData['headers'], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

const unavailable = (message: string, uri: string): ResourceError => new ResourceError('unavailable', message, { uri });
