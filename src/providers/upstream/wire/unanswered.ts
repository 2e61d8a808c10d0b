/**
 * A stream of events that ends, or breaks, before the answer of its request is there: the request is told so, which
 * would otherwise wait for its time to pass.
 */

/** The code of the error that is put in the place of the answer. Never comes from a server. */
export const UNANSWERED = -31_999;

/** The id of the request in a body, where its answer is awaited on this stream only. */
export function requestIn(body: RequestInit['body'] | undefined): string | number | undefined {
  if (typeof body !== 'string') return undefined;
  const { id, method } = JSON.parse(body) as { readonly id?: unknown; readonly method?: unknown };
  // A stream of changes has no other end than this one.
  if (method === undefined || method === 'subscriptions/listen') return undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** The same response, with an error for the request at the end of a stream that has no answer for it. */
export function answered(id: string | number | undefined, response: Response): Response {
  const { body, status, headers } = response;
  if (id === undefined || body === null || !response.ok) return response;
  if (headers.get('content-type')?.startsWith('text/event-stream') !== true) return response;
  return new Response(withAnswer(body, id), { status, headers });
}

function withAnswer(body: ReadableStream<Uint8Array>, id: string | number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const seen = watchFor(['"result"', '"error"', '\nid:']);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          seen.take(value);
          controller.enqueue(value);
          return;
        }
      } catch {
        // What came before the break may be an answer.
      }
      if (!seen.any) controller.enqueue(unanswered(id));
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Looks for words in bytes as they pass, and then for the end of their event: half of an answer is none. */
function watchFor(words: readonly string[]): { take(chunk: Uint8Array): void; readonly any: boolean } {
  const longest = Math.max(...words.map((word) => word.length));
  let found = false;
  let ended = false;
  // An event with an id is one that the client comes back for; the first line may be one.
  let last = Buffer.from('\n');
  return {
    take(chunk) {
      if (ended) return;
      let text = Buffer.concat([last, chunk]);
      if (!found) {
        const at = Math.max(...words.map((word) => text.indexOf(word)));
        found = at !== -1;
        if (found) text = text.subarray(at + 1);
      }
      ended = found && EVENT_ENDS.some((end) => text.includes(end));
      last = text.subarray(-longest);
    },
    get any() {
      return ended;
    },
  };
}

const EVENT_ENDS = ['\n\n', '\r\n\r\n', '\r\r'] as const;

function unanswered(id: string | number): Uint8Array {
  const error = { code: UNANSWERED, message: 'The stream ended without an answer' };
  // Ends the event that was being sent, if there was one.
  return Buffer.from(`\n\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`);
}
