/**
 * Keeps the messages that a 2025-era session was sent, so that a client whose stream broke off can come back for the
 * rest (Streamable HTTP, `Last-Event-ID`). Bounded: messages that are too old or too many are forgotten, and then
 * cannot be resumed.
 */
export interface ResumptionOptions {
  /** Messages of one session that are kept. Default: 256. */
  readonly maxEvents?: number | undefined;
  /** Bytes of JSON of one session that are kept. Default: 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** How long a client is asked to wait before it comes back, in milliseconds. Default: 1,000. */
  readonly retryMs?: number | undefined;
}

export const DEFAULT_RESUMPTION = { maxEvents: 256, maxBytes: 1_048_576, retryMs: 1_000 } as const;

/** The events that one session was sent. */
export interface SentEvents {
  /** Keeps an event of a stream. @returns the id under which a client can come back for what follows it */
  add(stream: string, message: string): string;
  /** The stream that an event went out on; undefined for one that is not kept any more. */
  streamOf(id: string): string | undefined;
  /** The events that followed one on its stream: ids and messages. */
  after(id: string): readonly (readonly [string, string])[];
}

interface Kept {
  readonly id: string;
  readonly stream: string;
  readonly message: string;
}

export function keepEvents(options: ResumptionOptions = {}): SentEvents {
  const { maxEvents = DEFAULT_RESUMPTION.maxEvents, maxBytes = DEFAULT_RESUMPTION.maxBytes } = options;
  const events: Kept[] = [];
  let bytes = 0;
  let count = 0;

  return {
    add(stream, message) {
      const id = `${++count}`;
      events.push({ id, stream, message });
      bytes += Buffer.byteLength(message);
      while (events.length > maxEvents || bytes > maxBytes) bytes -= Buffer.byteLength(events.shift()?.message ?? '');
      return id;
    },
    streamOf: (id) => events.find((event) => event.id === id)?.stream,
    after(id) {
      const at = events.findIndex((event) => event.id === id);
      const stream = events[at]?.stream;
      if (stream === undefined) return [];
      // The first event of a stream is empty: it only gives the client an id to come back with.
      const later = events.slice(at + 1).filter((event) => event.stream === stream && event.message !== '');
      return later.map((event) => [event.id, event.message]);
    },
  };
}
