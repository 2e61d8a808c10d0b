/** Event streams (SSE): frames their messages, keeps quiet streams alive, and ends all of them. */

/** The headers of an event stream. The HTTP server itself sets `Connection`. */
export const EVENT_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/** Makes an event of a message. @param id with which a client can later ask for the events after this one */
export const frameOf = (message: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${message}\n\n` : `event: message\nid: ${id}\ndata: ${message}\n\n`;

/** The receiver of a stream. */
export interface EventSink {
  write(text: string): void;
  end(): void;
}

/** How often quiet streams and late answers are looked for, in milliseconds. */
const TICK_MS = 5_000;

/** After this many ticks without an event, a stream gets a comment that keeps it alive. */
const QUIET_TICKS = 3;

/** One stream. Events that are written before a sink is attached wait for it. */
export class EventStream {
  /** The number of ticks since the last event. */
  quiet = 0;
  #sink: EventSink | undefined;
  #waiting: string[] = [];
  #over = false;
  readonly #ended = new Set<() => void>();

  write(text: string): void {
    if (this.#over) return;
    this.quiet = 0;
    if (this.#sink === undefined) this.#waiting.push(text);
    else this.#sink.write(text);
  }

  /** Writes all waiting events to the sink, and later events at once. */
  attach(sink: EventSink): void {
    for (const text of this.#waiting) sink.write(text);
    this.#waiting = [];
    if (this.#over) sink.end();
    else this.#sink = sink;
  }

  /** Ends the stream after all events that were written. */
  end(): void {
    if (this.#over) return;
    this.#sink?.end();
    this.#finish();
  }

  /** Ends the stream because the client has gone; waiting events are dropped. */
  leave(): void {
    if (this.#over) return;
    this.#waiting = [];
    this.#finish();
  }

  /** Adds a callback for the end of the stream. Calls it at once if the stream has ended. */
  onEnd(ended: () => void): void {
    if (this.#over) ended();
    else this.#ended.add(ended);
  }

  #finish(): void {
    this.#over = true;
    this.#sink = undefined;
    for (const ended of this.#ended) ended();
    this.#ended.clear();
  }
}

/** All streams of one endpoint. */
export interface EventStreams {
  open(): EventStream;
  /**
   * Calls `tell` if an answer takes long (5 to 10 seconds), so that the client can be told that the answer is on its way.
   * @returns removes the callback
   */
  late(tell: () => void): () => void;
  /** Ends all streams. */
  close(): void;
}

export function createEventStreams(): EventStreams {
  const open = new Set<EventStream>();
  let waiting = new Set<() => void>();
  /** Callbacks that were added before the last tick. They are called at the next one. */
  let late = new Set<() => void>();
  const timer = setInterval(() => {
    for (const stream of open) if (++stream.quiet >= QUIET_TICKS) stream.write(': keepalive\n\n');
    for (const tell of late) tell();
    late = waiting;
    waiting = new Set();
  }, TICK_MS);
  timer.unref();

  return {
    open() {
      const stream = new EventStream();
      open.add(stream);
      stream.onEnd(() => open.delete(stream));
      return stream;
    },
    late(tell) {
      waiting.add(tell);
      return () => void (waiting.delete(tell) || late.delete(tell));
    },
    close() {
      clearInterval(timer);
      for (const stream of [...open]) stream.end();
    },
  };
}
