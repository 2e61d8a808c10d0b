/**
 * What comes back over HTTP, as it is let in: the events of a stream one by one, as many in a turn as a connection has and
 * each no longer than a message may be, and of any other content no more than that.
 */
import { type Intake, type MessageLimit, overLimitAnswer } from './intake.ts';
import { idsAtEnds } from './lines.ts';
import { createPieces } from './pieces.ts';

type Id = string | number;

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
  id: Id | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const events = createEvents();
  let turn: Promise<void> | undefined;

  function end(controller: ReadableStreamDefaultController<Uint8Array>): void {
    controller.error(new Error('The server was cut off'));
    reader.cancel().catch(() => {});
  }

  function fail(controller: ReadableStreamDefaultController<Uint8Array>, of: Id, limit: MessageLimit): void {
    intake.refuse(of, limit);
    controller.enqueue(Buffer.from(`data: ${JSON.stringify(overLimitAnswer(of, limit))}\n\n`));
    if (of !== id) return;
    controller.close();
    reader.cancel().catch(() => {});
  }

  function tooLong(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (id !== undefined) {
      fail(controller, id, 'bytes');
      return;
    }
    intake.cut(`sent a message of more than ${intake.maxMessageBytes} bytes`);
    end(controller);
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
            turn = intake.use(event.length);
            const text = dataIn(event);
            const limit = intake.excessOf(text);
            if (limit === undefined) {
              if (!intake.take(messageIn(text), event.length)) return end(controller);
              controller.enqueue(event);
              return;
            }
            const failed = idsAtEnds(text).find(intake.awaits);
            if (failed !== undefined) return fail(controller, failed, limit);
            if (!intake.drop(limit, event.length)) return end(controller);
            continue;
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

/** The text of an event, of as many lines as it may have. */
const dataIn = (event: Buffer): string =>
  event
    .toString('utf8')
    .split(/\r\n|\r|\n/)
    .flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length)] : []))
    .join('\n');

/** The message of an event; undefined for what has none. */
function messageIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The same content, at once when all of it is there.
 * @param id of the request that it answers. Where it goes over a limit it breaks off with what that one fails with
 */
export function whole(
  body: ReadableStream<Uint8Array>,
  intake: Intake,
  id: Id | undefined,
): ReadableStream<Uint8Array> {
  const pieces = createPieces();
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        pieces.add(chunk);
        if (pieces.length > intake.maxMessageBytes) controller.error(intake.refuse(id, 'bytes'));
      },
      flush(controller) {
        const all = pieces.take();
        const limit = intake.excessOf(all.toString('utf8'));
        if (limit === undefined) controller.enqueue(all);
        else controller.error(intake.refuse(id, limit));
      },
    }),
  );
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
