/** The endpoint as a fetch handler, over web `Request` and `Response`. */
import { LongAnswer, wholeText } from '../dispatch/answer.ts';
import { boundedBody } from './bounded-stream.ts';
import type { EndpointCore, Sender } from './endpoint.ts';
import { EventStream } from './events.ts';
import { GONE, type HttpAnswer, type HttpRequest } from './exchange.ts';

/** The endpoint as a fetch handler, for a server of one's own: `app.all('/mcp', (c) => endpoint.fetch(c.req.raw))`. */
export interface HttpEndpoint {
  /**
   * @param options `principal`: who asks, where the caller has made sure of that itself; then no token is looked at.
   *   `expiresAt`: until when that holds, in milliseconds since 1970; its event streams end then. Default: for ever.
   *   `from`: the address that the request came from, for the audit.
   *   `cut`: ends the connection of a client that leaves too much of an event stream; without it the stream fails
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
    // Whoever has gone is not waited for, nor is a call that does not stop when it is told to.
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
          // A stream goes on for as long as its client is there.
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

/** The body, or undefined when it has more than `limit` bytes; stops reading there. */
async function bodyOf(request: Request, limit: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return undefined;
  // A server holds a request to the length that it announced, so there is no need to count.
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
