/**
 * Which request a log message belongs to. On 2026-07-28 over HTTP it comes on the stream of its request, which the
 * messages themselves do not say: it is written into them on the way in.
 */

/** In the `_meta` of such a message: the origin that its request was given. Never sent anywhere. */
export const ORIGIN_META_KEY = 'vitrine/origin';

/** How a request is given its origin; taken off before it is sent. */
export const ORIGIN_HEADER = 'vitrine-origin';

/** The headers without the origin, and the origin. */
export function takeOrigin(given: RequestInit['headers']): { headers: Headers; origin: string | undefined } {
  const all = given instanceof Headers ? given : new Headers(given);
  const origin = all.get(ORIGIN_HEADER);
  if (origin === null) return { headers: all, origin: undefined };
  const headers = new Headers(all);
  headers.delete(ORIGIN_HEADER);
  return { headers, origin };
}

/** The answer of a request, with its origin in each log message on its stream. */
export function annotateMessages(origin: string, response: Response): Response {
  if (response.body === null) return response;
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response;
  let rest = '';
  const lines = new TransformStream<string, string>({
    transform(chunk, controller) {
      const whole = (rest + chunk).split('\n');
      rest = whole.pop() ?? '';
      for (const line of whole) controller.enqueue(`${annotate(line, origin)}\n`);
    },
    flush(controller) {
      if (rest !== '') controller.enqueue(annotate(rest, origin));
    },
  });
  const annotated = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(lines)
    .pipeThrough(new TextEncoderStream());
  return new Response(annotated, { status: response.status, headers: response.headers });
}

function annotate(line: string, origin: string): string {
  if (!line.startsWith('data:') || !line.includes('"notifications/message"')) return line;
  try {
    const message = JSON.parse(line.slice('data:'.length)) as { method?: unknown; params?: Record<string, unknown> };
    if (message.method !== 'notifications/message' || message.params === undefined) return line;
    const meta = (message.params._meta ?? {}) as Record<string, unknown>;
    message.params._meta = { ...meta, [ORIGIN_META_KEY]: origin };
    return `data: ${JSON.stringify(message)}`;
  } catch {
    return line;
  }
}
