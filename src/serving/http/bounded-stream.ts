/**
 * Holds the events of a stream until its client takes them, as the body of a web `Response`. The server writes to a
 * stream whether or not the client reads it, so unread events would otherwise grow without limit.
 */
import type { EventStream } from './events.ts';

const encoder = new TextEncoder();

/**
 * Makes a body that holds at most `maxBytes` of unread events, or one event that is longer.
 * @param cut ends the client's connection when more would wait; without it the stream fails
 */
export function boundedBody(events: EventStream, maxBytes: number, cut?: () => void): ReadableStream<Uint8Array> {
  const waiting: Uint8Array[] = [];
  let bytes = 0;
  let ended = false;
  /** Lets a pull that found nothing continue. */
  let wake = (): void => {};

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        events.attach({
          write(text) {
            const chunk = encoder.encode(text);
            if (bytes > 0 && bytes + chunk.byteLength > maxBytes) {
              waiting.length = 0;
              events.leave();
              if (cut === undefined)
                controller.error(new Error(`The client left more than ${maxBytes} bytes of a stream`));
              else cut();
              return;
            }
            waiting.push(chunk);
            bytes += chunk.byteLength;
            wake();
          },
          end() {
            ended = true;
            wake();
          },
        });
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
      cancel() {
        waiting.length = 0;
        wake();
        events.leave();
      },
    },
    { highWaterMark: 0 },
  );
}
