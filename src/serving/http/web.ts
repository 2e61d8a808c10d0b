/** The endpoint as a fetch handler, over web `Request` and `Response`. */
import { LongAnswer, wholeText } from '../dispatch/answer.ts';
import { boundedBody } from './bounded-stream.ts';
import type { EndpointCore, Sender } from './endpoint.ts';
import { EventStream } from './events.ts';
import { GONE, type HttpAnswer, type HttpRequest } from './exchange.ts';

/** The endpoint as a fetch handler, for an HTTP server of your own: `app.all('/mcp', (c) => endpoint.fetch(c.req.raw))`. */
export interface HttpEndpoint {
  /**
   * Answers a request.
   * @param options `principal`: who asks, if the caller has authenticated the request itself; its token is then ignored.
   *   `expiresAt`: when this authentication expires, in milliseconds since 1970; event streams end then. Default: never.
   *   `from`: the address that the request came from, for the audit.
   *   `cut`: ends the connection of a client that leaves too many events unread. Default: the stream fails
   */
  fetch(request: Request, options?: Sender & { readonly cut?: (() => void) | undefined }): Promise<Response>;
  close(): Promise<void>;
}

export const overWeb = (core: EndpointCore): HttpEndpoint => ({
  async fetch(request, { cut, ...sender } = {}) {
    const { signal } = request;
    const abort = new AbortController();
    const http: HttpRequest = {
      method: request.method,
      url: request.url,
      headers: request.headers,
      signal: abort.signal,
      abort: (reason) => abort.abort(reason),
    };
    // When the client has gone, the promise resolves at once, even if a call does not stop when it is cancelled.
    return new Promise<Response>((resolve, reject) => {
      const leave = (): void => {
        abort.abort(signal.reason);
        resolve(responseOf(GONE, core, cut));
      };
      signal.addEventListener('abort', leave, { once: true });
      core
        .answer(http, (limit) => bodyOf(request, limit), sender)
        .then((answer) => {
          const { body } = answer;
          // A stream ends when its client goes, so the listener stays until the stream ends.
          if (body instanceof EventStream) body.onEnd(() => signal.removeEventListener('abort', leave));
          else signal.removeEventListener('abort', leave);
          resolve(responseOf(answer, core, cut));
          answer.sent?.();
          if (!(body instanceof EventStream)) return;
          if (signal.aborted) body.leave();
          else signal.addEventListener('abort', () => body.leave(), { once: true });
        }, reject);
      if (signal.aborted) leave();
    });
  },
  close: () => core.close(),
});

function responseOf({ status, headers, body }: HttpAnswer, { limits }: EndpointCore, cut?: () => void): Response {
  const text = body instanceof LongAnswer ? wholeText(body) : body;
  const content = text instanceof EventStream ? boundedBody(text, limits.maxUnreadBytes, cut) : (text ?? null);
  return new Response(content, { status, ...(headers !== undefined && { headers }) });
}

/** Reads the body of a request; returns undefined, and stops reading, if it has more than `limit` bytes. */
async function bodyOf(request: Request, limit: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return undefined;
  // HTTP servers deliver no more bytes than `Content-Length` announces, so they need not be counted.
  if (request.headers.has('content-length')) return new Uint8Array(await request.arrayBuffer());
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
