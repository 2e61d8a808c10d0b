/**
 * Limits the responses of an HTTP server: passes on the events of a stream one by one, at most a connection's share per
 * turn and each no longer than a message may be; any other content may have as many bytes as a message.
 */
import { breaks } from '../core/breaks.ts';
import { type MessageLimit, UNANSWERED } from './faults.ts';
import { idsAtEnds } from './ids-at-ends.ts';
import { answerTo, type Id, type Intake, overLimitAnswer } from './intake.ts';
import { withOrigin } from './message-origin.ts';
import { createPieces, textOf } from './pieces.ts';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const LINE_FEED_ALONE = Uint8Array.of(LINE_FEED);

/** Cuts chunks of a stream into events. */
interface Events {
  push(chunk: Uint8Array): void;
  /** Returns the next complete event with the blank line after it; undefined where there is none yet. */
  next(): Uint8Array | undefined;
  /** Bytes of the incomplete event. */
  readonly unfinished: number;
  /** Returns the bytes that are left at the end. */
  rest(): Uint8Array;
}

function createEvents(): Events {
  let chunk: Uint8Array = new Uint8Array();
  let from = 0;
  const pieces = createPieces();
  /** Line ends since the last other byte. */
  let breaks = 0;
  let last = 0;
  return {
    // Called only when the last chunk is used up.
    push(next) {
      chunk = next;
      from = 0;
    },
    next() {
      for (let at = from; at < chunk.length; at++) {
        const byte = chunk[at] ?? 0;
        const pair = byte === LINE_FEED && last === CARRIAGE_RETURN;
        last = byte;
        if (pair) {
          // The last event was returned with a line feed already.
          if (at === from && pieces.length === 0) from = at + 1;
          continue;
        }
        if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
          breaks = 0;
          continue;
        }
        if (++breaks < 2) continue;
        breaks = 0;
        if (byte === CARRIAGE_RETURN && chunk[at + 1] === LINE_FEED) {
          at++;
          last = LINE_FEED;
        }
        pieces.add(chunk.subarray(from, at + 1));
        from = at + 1;
        // After a carriage return the client waits: the next byte may be the line feed of the same line.
        if (last === CARRIAGE_RETURN) pieces.add(LINE_FEED_ALONE);
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

/** The request that a stream answers. */
export interface StreamOwner {
  /** Undefined for a stream that answers no request, and for one that may continue on another connection. */
  readonly id?: Id | undefined;
  /** Goes into the log messages about the stream. */
  readonly origin?: string | undefined;
}

/**
 * Returns the same stream, at the speed at which its messages are handled. An event that is too long, or an end before
 * the answer, ends it with an error for the request. A stream that answers no request cuts the server off for such an event.
 */
export function letIn(
  body: ReadableStream<Uint8Array>,
  intake: Intake,
  { id, origin }: StreamOwner = {},
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const events = createEvents();
  let turn: Promise<void> | undefined;
  /** Whether the request is answered, or an event had an id: then the client reconnects to get the rest. */
  let settled = false;
  let over = false;

  function end(controller: ReadableStreamDefaultController<Uint8Array>): void {
    controller.error(new Error('The server was cut off'));
    reader.cancel().catch(() => {});
  }

  function fail(controller: ReadableStreamDefaultController<Uint8Array>, of: Id, limit: MessageLimit): void {
    intake.refuse(of, limit);
    controller.enqueue(eventOf(overLimitAnswer(of, limit)));
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

  /** Returns the next chunk; undefined at the end, and where the stream broke while a request waits for its answer. */
  async function read(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await reader.read();
      return done ? undefined : value;
    } catch (error) {
      if (id === undefined) throw error;
      return undefined;
    }
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
            const taken = breaks();
            const text = textOf(event);
            const data = dataIn(text);
            const limit = intake.excessOf(data);
            if (limit === undefined) {
              // Parsing cannot be paused, and the client parses the message again.
              await taken.end();
              const message = messageIn(data);
              const wanted = intake.take(message, event.length);
              await taken.end();
              if (!wanted || intake.over) return end(controller);
              settled ||= (id !== undefined && answerTo(message) === id) || HAS_ID.test(text);
              const marked = origin === undefined ? undefined : withOrigin(message, origin);
              controller.enqueue(marked === undefined ? event : eventOf(marked, text));
              return;
            }
            const failed = idsAtEnds(data).find(intake.awaits);
            if (failed !== undefined) return fail(controller, failed, limit);
            if (!intake.drop(limit, event.length)) return end(controller);
            continue;
          }
          if (events.unfinished > intake.maxMessageBytes) return tooLong(controller);
          const chunk = over ? undefined : await read();
          if (chunk !== undefined) {
            events.push(chunk);
            // A chunk uses up a part of the turn even where it completes no event.
            turn = intake.use(0);
            continue;
          }
          const rest = events.rest();
          if (!over && id !== undefined && textOf(rest).includes('data:')) {
            // The answer may be complete except for the blank line after it.
            over = true;
            events.push(ENCODER.encode(`${textOf(rest)}\n\n`));
            continue;
          }
          if (rest.length > 0) controller.enqueue(rest);
          if (id !== undefined && !settled) controller.enqueue(eventOf(unanswered(id)));
          controller.close();
          return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

const LINE_END = /\r\n|\r|\n/;
const HAS_ID = /(?:^|[\r\n])id:/;
const ENCODER = new TextEncoder();

/** Returns the text of an event, joining its `data` lines. */
const dataIn = (event: string): string =>
  event
    .split(LINE_END)
    .flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length)] : []))
    .join('\n');

/** Makes an event with this message. @param before an event whose other fields are kept */
function eventOf(message: object, before = ''): Uint8Array {
  const others = before.split(LINE_END).filter((line) => line !== '' && !line.startsWith('data:'));
  return ENCODER.encode(`${[...others, `data: ${JSON.stringify(message)}`].join('\n')}\n\n`);
}

const unanswered = (id: Id): object => ({
  jsonrpc: '2.0',
  id,
  error: { code: UNANSWERED, message: 'The stream ended without an answer' },
});

/** Returns the message in an event; undefined where there is none. */
function messageIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the same content, complete at once.
 * @param id the request that it answers. Content over a limit makes the stream fail, and no answer is awaited any more
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
      async flush(controller) {
        const taken = breaks();
        const all = pieces.take();
        const limit = intake.excessOf(textOf(all));
        await taken.end();
        if (limit === undefined) controller.enqueue(all);
        else controller.error(intake.refuse(id, limit));
      },
    }),
  );
}

/** Returns the same content, which breaks off after a number of bytes. */
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
