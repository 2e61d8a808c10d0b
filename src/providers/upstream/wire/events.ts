/**
 * What comes back over HTTP, as it is let in: the events of a stream one by one, as many in a turn as a connection has and
 * each no longer than a message may be, and of any other content no more than that.
 */
import { type Intake, tooLongAnswer } from './intake.ts';
import { createPieces } from './pieces.ts';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Events of a stream, out of chunks. */
interface Events {
  push(chunk: Uint8Array): void;
  /** The next whole event, with the blank line behind it; undefined where there is none yet. */
  next(): Buffer | undefined;
  /** Bytes of the event that is not whole yet. */
  readonly unfinished: number;
  /** What is left at the end. */
  rest(): Buffer;
}

function createEvents(): Events {
  let chunk: Uint8Array = new Uint8Array();
  let from = 0;
  const pieces = createPieces();
  /** Ends of lines since the last byte of a line. */
  let breaks = 0;
  let last = 0;
  return {
    // Only when the one before was used up.
    push(next) {
      chunk = next;
      from = 0;
    },
    next() {
      for (let at = from; at < chunk.length; at++) {
        const byte = chunk[at] ?? 0;
        const pair = byte === LINE_FEED && last === CARRIAGE_RETURN;
        last = byte;
        if (pair) continue;
        if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
          breaks = 0;
          continue;
        }
        if (++breaks < 2) continue;
        breaks = 0;
        pieces.add(chunk.subarray(from, at + 1));
        from = at + 1;
        return pieces.take();
      }
      pieces.add(chunk.subarray(from));
      from = chunk.length;
      return undefined;
    },
    get unfinished() {
      return pieces.length;
    },
    rest: () => pieces.take(),
  };
}

/**
 * The same stream, at the speed at which its messages are handled.
 * @param id of the request that is answered on it; an event that is too long ends it with an error for that one
 */
export function letIn(
  body: ReadableStream<Uint8Array>,
  intake: Intake,
  id: string | number | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const events = createEvents();
  let turn: Promise<void> | undefined;

  function end(controller: ReadableStreamDefaultController<Uint8Array>): void {
    controller.error(new Error('The server was cut off'));
    reader.cancel().catch(() => {});
  }

  function tooLong(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (id === undefined) {
      intake.cut(`sent a message of more than ${intake.maxMessageBytes} bytes`);
      end(controller);
      return;
    }
    intake.refuse(id);
    controller.enqueue(Buffer.from(`data: ${JSON.stringify(tooLongAnswer(id, intake.maxMessageBytes))}\n\n`));
    controller.close();
    reader.cancel().catch(() => {});
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          await turn;
          turn = undefined;
          if (intake.over) return end(controller);
          const event = events.next();
          if (event !== undefined) {
            if (event.length > intake.maxMessageBytes) return tooLong(controller);
            if (!intake.take(messageIn(event), event.length)) return end(controller);
            turn = intake.use(event.length);
            controller.enqueue(event);
            return;
          }
          if (events.unfinished > intake.maxMessageBytes) return tooLong(controller);
          const { done, value } = await reader.read();
          if (!done) {
            events.push(value);
            // What is in it may be no event at all.
            turn = intake.use(0);
            continue;
          }
          const rest = events.rest();
          if (rest.length > 0) controller.enqueue(rest);
          controller.close();
          return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The message of an event; undefined for what has none. */
function messageIn(event: Buffer): unknown {
  const data = event
    .toString('utf8')
    .split(/\r\n|\r|\n/)
    .flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length)] : []));
  try {
    return JSON.parse(data.join('\n'));
  } catch {
    return undefined;
  }
}

/** The same content, which breaks off where it has more bytes than that. */
export function upTo(body: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (bytes <= maxBytes) controller.enqueue(chunk);
        else controller.terminate();
      },
    }),
  );
}
