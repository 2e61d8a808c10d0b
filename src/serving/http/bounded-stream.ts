/**
 * What waits of an event stream until its client takes it. A stream is written to whether it is read or not, so what a
 * client leaves would gather without end.
 */

/**
 * The response with at most `maxBytes` of its events waiting; anything but an event stream as it is.
 * @param cut ends the client's connection when more would wait; without it the stream fails
 */
export function boundStream(response: Response, maxBytes: number, cut?: () => void): Response {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true || response.body === null)
    return response;
  const { status, headers } = response;
  return new Response(bounded(response.body, maxBytes, cut), { status, headers });
}

function bounded(
  source: ReadableStream<Uint8Array>,
  maxBytes: number,
  cut: (() => void) | undefined,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const waiting: Uint8Array[] = [];
  let bytes = 0;
  let ended = false;
  /** Lets a pull go on that found nothing. */
  let wake = (): void => {};

  function overflow(controller: ReadableStreamDefaultController<Uint8Array>): void {
    ended = true;
    waiting.length = 0;
    reader.cancel().catch(() => {});
    if (cut === undefined) controller.error(new Error(`The client left more than ${maxBytes} bytes of a stream`));
    else cut();
  }

  async function fill(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      for (let next = await reader.read(); !next.done && !ended; next = await reader.read()) {
        if (bytes > 0 && bytes + next.value.byteLength > maxBytes) return overflow(controller);
        waiting.push(next.value);
        bytes += next.value.byteLength;
        wake();
      }
      ended = true;
      wake();
    } catch (error) {
      ended = true;
      controller.error(error);
    }
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        void fill(controller);
      },
      async pull(controller) {
        if (waiting.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve));
        const next = waiting.shift();
        if (next !== undefined) {
          bytes -= next.byteLength;
          controller.enqueue(next);
        } else if (ended) {
          controller.close();
        }
      },
      cancel(reason) {
        ended = true;
        waiting.length = 0;
        wake();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
