/** A bus over whatever carries texts between replicas: what leaves together is one text, and the same is said once. */
import type { Bus, BusListener, BusMemory } from '../../core/bus.ts';
import { type Log, SILENT } from '../../core/context.ts';

/** How long a message waits for others to leave with it, in milliseconds. */
const GATHER_MS = 1;

/** Until the others are told again that something was dropped, in milliseconds. */
const AGAIN_MS = 200;

/** Messages that wait to leave. More than that, or longer ones, are dropped together, and the other replicas are told so. */
const MAX_WAITING = 10_000;

/** The length of their texts together. */
const MAX_WAITING_LENGTH = 16 * 1024 * 1024;

/** Stands for messages that were dropped. */
const DROPPED = 'null';

/** Carries texts from this replica to all others. */
export interface Carrier {
  /** Resolves to whether it was sent. Never rejects. */
  send(text: string): Promise<boolean>;
  readonly whole: boolean;
  readonly memory: BusMemory;
  close(): Promise<void>;
}

export interface CarrierEvents {
  /** A text of another replica has come. */
  received(text: string): void;
  /** Texts may have been lost. */
  mended(): void;
}

export function createBus(open: (events: CarrierEvents) => Carrier, log: Log = SILENT): Bus {
  const listeners = new Map<string, Set<BusListener>>();
  const mending = new Set<() => void>();
  let waiting = new Set<string>();
  let length = 0;
  let dropped = false;
  const counts = { sent: 0, heard: 0, sentBytes: 0, heardBytes: 0, dropped: 0, mended: 0 };
  let lagMs: number | undefined;
  /** When the oldest message that waits was said. */
  let since = 0;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let sending = Promise.resolve();
  const mended = (): void => {
    counts.mended++;
    for (const each of [...mending]) each();
  };
  const carrier = open({
    received(text) {
      const messages = JSON.parse(text) as readonly (readonly [string, unknown])[] | null;
      counts.heardBytes += Buffer.byteLength(text);
      if (messages === null) return mended();
      counts.heard += messages.length;
      for (const [topic, data] of messages) for (const each of [...(listeners.get(topic) ?? [])]) each(data);
    },
    mended() {
      // The others may have heard nothing of what this replica said meanwhile, and their connections may be whole.
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
    if (dropped) dropped = !(await send(DROPPED, 0));
    if (texts.length > 0) {
      if (!dropped) dropped = !(await send(`[${texts.join(',')}]`, texts.length));
      if (dropped) counts.dropped += texts.length;
      else lagMs = performance.now() - from;
    }
    // If the carrier is broken, the loss is told when it is whole again.
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

  /** Forgets what waits; the others are told that they missed something. */
  function overflow(): void {
    // Once until it is over: it may happen with every message.
    if (!dropped) log.warn('the bus is full: other replicas count everything as changed', { waiting: waiting.size });
    counts.dropped += waiting.size;
    waiting.clear();
    length = 0;
    dropped = true;
  }

  return {
    publish(topic, data) {
      const text = JSON.stringify([topic, data]);
      // The later one counts, behind what was said in between.
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
      const those = listeners.get(topic) ?? new Set();
      listeners.set(topic, those.add(listener));
      return () => {
        those.delete(listener);
        if (those.size === 0 && listeners.get(topic) === those) listeners.delete(topic);
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
