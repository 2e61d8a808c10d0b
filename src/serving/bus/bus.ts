/**
 * Makes a bus over a carrier of texts. Messages that are published at nearly the same time leave in one text, and equal messages
 * among them are sent once.
 */
import type { Bus, BusListener, BusMemory } from '../../core/bus.ts';
import { type Log, SILENT } from '../../core/context.ts';

/** How long a message waits for others that can leave in the same text, in milliseconds. */
const GATHER_MS = 1;

/** How long to wait before the next attempt to tell the others that messages were dropped, in milliseconds. */
const AGAIN_MS = 200;

/** The most messages that wait to leave. When there are more, all of them are dropped, and the other replicas are told so. */
const MAX_WAITING = 10_000;

/** The most characters of all waiting messages together. When there are more, all messages are dropped, too. */
const MAX_WAITING_LENGTH = 16 * 1024 * 1024;

/** The text that is sent in place of messages that were dropped. */
const DROPPED = 'null';

/** Carries texts from this replica to all others. */
export interface Carrier {
  /** Resolves to whether the text was sent. Never rejects. */
  send(text: string): Promise<boolean>;
  /** Whether texts get through now, as far as is known. */
  readonly whole: boolean;
  readonly memory: BusMemory;
  close(): Promise<void>;
}

export interface CarrierEvents {
  /** Called with a text of another replica. */
  received(text: string): void;
  /** Called when texts may have been lost, and later ones get through again. */
  mended(): void;
}

export function createBus(open: (events: CarrierEvents) => Carrier, log: Log = SILENT): Bus {
  const listeners = new Map<string, Set<BusListener>>();
  const mending = new Set<() => void>();
  let waiting = new Set<string>();
  let length = 0;
  let dropped = false;
  let overflows = 0;
  const counts = { sent: 0, heard: 0, sentBytes: 0, heardBytes: 0, dropped: 0, mended: 0 };
  let lagMs: number | undefined;
  /** When the oldest waiting message was published. */
  let since = 0;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let sending = Promise.resolve();
  const mended = (): void => {
    counts.mended++;
    for (const listener of [...mending]) listener();
  };
  const carrier = open({
    received(text) {
      const messages = JSON.parse(text) as readonly (readonly [string, unknown])[] | null;
      counts.heardBytes += Buffer.byteLength(text);
      if (messages === null) return mended();
      counts.heard += messages.length;
      for (const [topic, data] of messages) for (const listener of [...(listeners.get(topic) ?? [])]) listener(data);
    },
    mended() {
      // The others may have missed messages of this replica without noticing, because their own connections were whole.
      if (dropped) gather();
      mended();
    },
  });

  function gather(ms = GATHER_MS): void {
    timer ??= setTimeout(() => {
      sending = sending.then(flush);
    }, ms);
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const texts = [...waiting];
    const from = since;
    waiting = new Set();
    length = 0;
    const overflowsBefore = overflows;
    if (dropped) dropped = !(await send(DROPPED, 0));
    if (texts.length > 0) {
      const wasSent = !dropped && (await send(`[${texts.join(',')}]`, texts.length));
      if (wasSent) lagMs = performance.now() - from;
      else {
        dropped = true;
        counts.dropped += texts.length;
      }
    }
    // Messages may have been dropped while the texts were sent, and nobody has been told of these yet.
    if (overflows !== overflowsBefore) dropped = true;
    // If the carrier is broken, the others are told of the loss when it is whole again.
    if (dropped && carrier.whole && !closed) gather(AGAIN_MS);
  }

  async function send(text: string, messages: number): Promise<boolean> {
    const wasSent = await carrier.send(text);
    if (wasSent) {
      counts.sent += messages;
      counts.sentBytes += Buffer.byteLength(text);
    }
    return wasSent;
  }

  /** Drops all waiting messages. The others are told that they missed something. */
  function overflow(): void {
    // Logged only once until a send succeeds, because this may happen with every message.
    if (!dropped) log.warn('the bus is full: other replicas count everything as changed', { waiting: waiting.size });
    counts.dropped += waiting.size;
    waiting.clear();
    length = 0;
    dropped = true;
    overflows++;
  }

  return {
    publish(topic, data) {
      const text = JSON.stringify([topic, data]);
      // An equal message that waits is replaced, so that the message comes after all that were published in between.
      if (waiting.delete(text)) length -= text.length;
      if (waiting.size >= MAX_WAITING || length + text.length > MAX_WAITING_LENGTH) overflow();
      if (waiting.size === 0) since = performance.now();
      if (text.length <= MAX_WAITING_LENGTH) {
        waiting.add(text);
        length += text.length;
      } else counts.dropped++;
      gather();
    },
    listen(topic, listener) {
      const ofTopic = listeners.get(topic) ?? new Set();
      listeners.set(topic, ofTopic.add(listener));
      return () => {
        ofTopic.delete(listener);
        if (ofTopic.size === 0 && listeners.get(topic) === ofTopic) listeners.delete(topic);
      };
    },
    onMended(listener) {
      mending.add(listener);
      return () => mending.delete(listener);
    },
    get whole() {
      return carrier.whole;
    },
    state: () => ({ ...counts, waiting: waiting.size, lagMs, whole: carrier.whole }),
    memory: carrier.memory,
    async close() {
      closed = true;
      await sending;
      await flush();
      listeners.clear();
      mending.clear();
      await carrier.close();
    },
  };
}
