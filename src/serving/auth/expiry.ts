/** Streams end with the token that they were opened with: nothing is told to who may not ask any more. */

/**
 * How long a stream that answers a request goes on after the token has expired, in milliseconds: the request was
 * allowed, and clients that get a new token when they are refused would lose the answer.
 */
export const ANSWER_GRACE_MS = 60_000;

/** The longest time that a timer of Node can wait, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** When the access of one peer ends; it moves on as newer tokens come. There is a timer only while something waits. */
export interface Expiry {
  /** Whether it does not end. */
  readonly never: boolean;
  /** A token came that is good until then, in milliseconds since 1970; undefined is one that is good for ever. */
  renew(until: number | undefined): void;
  /**
   * @param end is called once, this many milliseconds after the access has ended
   * @returns takes it back
   */
  onEnd(end: () => void, graceMs: number): () => void;
}

/** @param until as in `renew` */
export function createExpiry(until?: number): Expiry {
  let ends = until ?? Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const waiting = new Set<{ readonly end: () => void; readonly graceMs: number }>();

  function wait(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0 || ends === Number.POSITIVE_INFINITY) return;
    const first = ends + Math.min(...[...waiting].map(({ graceMs }) => graceMs));
    timer = setTimeout(look, Math.min(Math.max(first - Date.now(), 0), MAX_TIMER_MS));
    timer.unref();
  }

  function look(): void {
    const now = Date.now();
    for (const each of [...waiting]) {
      if (now < ends + each.graceMs) continue;
      waiting.delete(each);
      each.end();
    }
    wait();
  }

  return {
    get never() {
      return ends === Number.POSITIVE_INFINITY;
    },
    renew(newer) {
      const later = newer ?? Number.POSITIVE_INFINITY;
      if (later <= ends) return;
      ends = later;
      wait();
    },
    onEnd(end, graceMs) {
      const each = { end, graceMs };
      waiting.add(each);
      wait();
      return () => {
        if (waiting.delete(each)) wait();
      };
    },
  };
}

export interface EndingOptions {
  readonly graceMs: number;
  /** Told once when the expiry has ended the stream, and not when its server or client has. */
  readonly onExpired?: (() => void) | undefined;
}

/** The response, whose event stream ends by then at the latest; any other one as it is. */
export function endingWith(response: Response, expiry: Expiry, { graceMs, onExpired }: EndingOptions): Response {
  const type = response.headers.get('content-type') ?? '';
  if (expiry.never || response.body === null || !type.startsWith('text/event-stream')) return response;
  const reader = response.body.getReader();
  let forget = (): void => {};
  let over = false;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        forget = expiry.onEnd(() => {
          over = true;
          controller.close();
          reader.cancel().catch(() => {});
          onExpired?.();
        }, graceMs);
      },
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          forget();
          throw error;
        });
        if (over) return;
        if (!done) return controller.enqueue(value);
        forget();
        controller.close();
      },
      cancel(reason) {
        forget();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: response.status, headers: response.headers });
}
