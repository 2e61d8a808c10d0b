/**
 * What a 2025-era session was sent, kept so that a client whose stream broke off can come back for the rest
 * (Streamable HTTP, `Last-Event-ID`). Bounded: what is too old or too much is forgotten, and then cannot be resumed.
 */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

export interface ResumptionOptions {
  /** Messages of one session that are kept. Default: 256. */
  readonly maxEvents?: number | undefined;
  /** Bytes of JSON of one session that are kept. Default: 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** How long a client is asked to wait before it comes back, in milliseconds. Default: 1,000. */
  readonly retryMs?: number | undefined;
}

export const DEFAULT_RESUMPTION = { maxEvents: 256, maxBytes: 1_048_576, retryMs: 1_000 } as const;

interface Kept {
  readonly id: string;
  readonly stream: string;
  readonly json: string;
}

/** A store for one session. */
export function createEventStore(options: ResumptionOptions = {}): EventStore {
  const { maxEvents = DEFAULT_RESUMPTION.maxEvents, maxBytes = DEFAULT_RESUMPTION.maxBytes } = options;
  const events: Kept[] = [];
  let bytes = 0;
  let count = 0;

  return {
    async storeEvent(stream, message) {
      const id = `${++count}`;
      const json = JSON.stringify(message);
      events.push({ id, stream, json });
      bytes += Buffer.byteLength(json);
      while (events.length > maxEvents || bytes > maxBytes) {
        bytes -= Buffer.byteLength(events.shift()?.json ?? '');
      }
      return id;
    },
    async getStreamIdForEventId(id) {
      return events.find((event) => event.id === id)?.stream;
    },
    async replayEventsAfter(id, { send }) {
      const at = events.findIndex((event) => event.id === id);
      const stream = events[at]?.stream;
      if (stream === undefined) throw new Error('The event is not kept any more');
      for (const event of events.slice(at + 1)) {
        const message = JSON.parse(event.json) as JSONRPCMessage | Record<string, never>;
        // The first event of a stream is empty: it only gives the client an id to come back with.
        if (event.stream === stream && 'jsonrpc' in message) await send(event.id, message as JSONRPCMessage);
      }
      return stream;
    },
  };
}
