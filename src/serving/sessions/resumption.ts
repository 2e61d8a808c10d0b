/**
 * Keeps the messages that were sent in a 2025-era session, so that a client whose stream broke off can get the rest (Streamable
 * HTTP, `Last-Event-ID`). Number and bytes are limited: the oldest messages are forgotten first, and cannot be sent again.
 */
export interface ResumptionOptions {
  /** The most messages that are kept for one session. Default: 256. */
  readonly maxEvents?: number | undefined;
  /** The most bytes of JSON that are kept for one session. Default: 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** How long a client is asked to wait before it comes back, in milliseconds. Default: 1,000. */
  readonly retryMs?: number | undefined;
}

export const DEFAULT_RESUMPTION = { maxEvents: 256, maxBytes: 1_048_576, retryMs: 1_000 } as const;

/** The events that were sent in one session. */
export interface SentEvents {
  /** Keeps an event of a stream. @returns the id of the event, with which a client can ask for the events after it */
  add(stream: string, message: string): string;
  /** The stream of an event; undefined for an event that is not kept any more. */
  streamOf(id: string): string | undefined;
  /** The ids and messages of the events that came after an event on its stream. */
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
