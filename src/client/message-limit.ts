/**
 * What the transport over HTTP leaves open: how large one message of a server may be while it comes, before it is in memory
 * (SEC-RES-3), and what becomes of a request whose stream of events ends without its answer.
 */

/** Codes of the errors that are put in the place of an answer. They never come from a server. */
export const UNANSWERED = -31_999;
export const OVER_LIMIT = -31_998;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Longer than each of the words that are looked for across pieces. */
const OVERLAP = 16;

/**
 * The same response, which breaks off where its body, or one event of a stream of events, has more bytes than that. A stream
 * that ends without an answer to the request, or is broken off, ends with an error for it.
 * @param body of the request; @param maxBytes of one message
 */
export function limitBody(response: Response, body: unknown, maxBytes: number): Response {
  const { headers, status, statusText } = response;
  if (response.body === null) return response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const id = isStream ? requestIn(body) : undefined;
  const size = isStream ? eventSizes() : wholeSize();
  const seen = answers();
  let over = false;
  const limited = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (size(chunk) <= maxBytes) {
          if (id !== undefined) seen.take(chunk);
          controller.enqueue(chunk);
          return;
        }
        over = true;
        if (id === undefined) controller.error(new Error(`The server sent a message of more than ${maxBytes} bytes`));
        else {
          controller.enqueue(errorEvent(id, OVER_LIMIT, 'The answer of the server is too large'));
          controller.terminate();
        }
      },
      flush(controller) {
        if (id === undefined || over || seen.any) return;
        controller.enqueue(errorEvent(id, UNANSWERED, 'The stream ended without an answer'));
      },
    }),
  );
  const copy = new Response(limited, { status, statusText, headers });
  // A copy does not know where it came from; redirects and authorization look at it.
  Object.defineProperty(copy, 'url', { value: response.url });
  return copy;
}

/** Of a body: its bytes so far. */
function wholeSize(): (chunk: Uint8Array) => number {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.length;
    return bytes;
  };
}

/** Of a stream of events: bytes of the longest one that this piece has a part of. A blank line ends one. */
function eventSizes(): (chunk: Uint8Array) => number {
  let bytes = 0;
  let breaks = 0;
  return (chunk) => {
    let from = 0;
    let longest = bytes;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === LINE_FEED) breaks++;
      else if (byte !== CARRIAGE_RETURN) {
        breaks = 0;
        const next = chunk.indexOf(LINE_FEED, at);
        if (next === -1) break;
        at = next - 1;
        continue;
      }
      if (breaks < 2) continue;
      longest = Math.max(longest, bytes + at - from);
      bytes = 0;
      from = at + 1;
      breaks = 0;
    }
    bytes += chunk.length - from;
    return Math.max(longest, bytes);
  };
}

/** The id of a request whose answer comes on this stream and no other. */
function requestIn(body: unknown): string | number | undefined {
  if (typeof body !== 'string') return undefined;
  const { id, method } = JSON.parse(body) as { readonly id?: unknown; readonly method?: unknown };
  // A stream of changes has no other end than this one.
  if (method === undefined || method === 'subscriptions/listen') return undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** Looks for an answer in the pieces of a stream, or for an event with an id: for that one the transport comes back. */
function answers(): { take(chunk: Uint8Array): void; readonly any: boolean } {
  const decoder = new TextDecoder('latin1');
  let any = false;
  let last = '\n';
  return {
    take(chunk) {
      if (any) return;
      const text = last + decoder.decode(chunk);
      any = text.includes('"result"') || text.includes('"error"') || text.includes('\nid:');
      last = text.slice(-OVERLAP);
    },
    get any() {
      return any;
    },
  };
}

/** Ends the event that was being sent, if there was one, and answers. */
function errorEvent(id: string | number, code: number, message: string): Uint8Array {
  return new TextEncoder().encode(`\n\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n\n`);
}
