/** Event streams: what is said on them, how they are kept alive, and that all of them end. */

/** Headers of every answer that is a stream of events. Whether the connection is kept is for the server to say. */
export const EVENT_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/** A message as an event. @param id under which a client can come back for what follows it */
export const frameOf = (message: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${message}\n\n` : `event: message\nid: ${id}\ndata: ${message}\n\n`;

/** The receiver of a stream. */
export interface EventSink {
  write(text: string): void;
  end(): void;
}

/** How often streams and those who wait are looked at, in milliseconds. */
const TICK_MS = 5_000;

/** Ticks after which a stream that is quiet says that it is still there. */
const QUIET_TICKS = 3;

/** One stream: written to by whoever answers, and read by one sink, which may come later. */
export class EventStream {
  /** Ticks without a word. */
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

  /** Gives all that was written to the sink, and from now on at once. */
  attach(sink: EventSink): void {
    for (const text of this.#waiting) sink.write(text);
    this.#waiting = [];
    if (this.#over) sink.end();
    else this.#sink = sink;
  }

  /** Ends the stream behind what was written. */
  end(): void {
    if (this.#over) return;
    this.#sink?.end();
    this.#finish();
  }

  /** The client has gone. */
  leave(): void {
    if (this.#over) return;
    this.#waiting = [];
    this.#finish();
  }

  /** Called once, when the stream has ended, whoever ended it; at once where it has. */
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
   * Calls back when an answer has been waited for so long that the client should be told that it is on its way.
   * @returns takes it back
   */
  late(tell: () => void): () => void;
  /** Ends what is open. */
  close(): void;
}

export function createEventStreams(): EventStreams {
  const open = new Set<EventStream>();
  let waiting = new Set<() => void>();
  /** Those that have waited for a whole tick. */
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
