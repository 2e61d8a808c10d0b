/** Carries texts between replicas over Redis. One connection sends texts and uses the memory, and another one receives texts. */
import type { BusMemory } from '../../../core/bus.ts';
import type { Log } from '../../../core/context.ts';
import { createSeal, type Keys, unsealable } from '../../../core/keys.ts';
import type { Carrier, CarrierEvents } from '../bus.ts';
import { createMissed } from '../missed.ts';
import { type Client, COMMAND_MS, type Commands, type OpenClient, unavailable } from './client.ts';
import { type Connection, keepConnected } from './connection.ts';
import type { Place } from './place.ts';

/** How often the sentinels or the cluster are asked whether the master has changed, in milliseconds. */
const LOOK_MS = 2_000;

/** The most different errors that are logged while the bus is away. */
const MAX_REASONS = 8;

/**
 * The errors with which Redis says that another server has the key or takes writes, or that the cluster or its master is down.
 */
const ELSEWHERE = /^(MOVED|ASK|READONLY|CLUSTERDOWN|MASTERDOWN)\b/;

/** The text of a greeting, which has no messages. */
const NOTHING = '[]';

export interface Carrying {
  readonly place: Place;
  readonly open: OpenClient;
  readonly channel: string;
  readonly keys: Keys;
  readonly log: Log;
  readonly events: CarrierEvents;
  /** Makes the memory of the bus. @param trouble called with the error of each command that fails */
  memoryOf(commands: Commands, trouble: (error: unknown) => void): BusMemory;
}

export interface OpenedCarrier {
  readonly carrier: Carrier;
  /** Resolves when both connections are made, or after `COMMAND_MS`. Connecting goes on then. */
  readonly ready: Promise<void>;
}

/** `count` numbers the messages of a sender. In a greeting, `agoMs` is the time since its last message, in milliseconds. */
type Message = readonly [from: string, text: string, count?: number, agoMs?: number];

export function openCarrier({ place, open, channel, keys, log, events, memoryOf }: Carrying): OpenedCarrier {
  const bound = Buffer.from(channel);
  const { seal, open: unseal } = createSeal(keys, 'vitrine bus v1');
  const self = crypto.randomUUID();
  const missed = createMissed();
  const reasons = new Set<string>();
  let closed = false;
  let wasBroken = false;
  let hasStrangers = false;
  let count = 0;
  let sentAt = 0;
  let setConnected: () => void = () => {};
  const connected = new Promise<void>((resolve) => {
    setConnected = resolve;
  });

  function broken(error: unknown): void {
    if (closed) return;
    const reason = error instanceof Error ? error.message : String(error);
    if (!reasons.has(reason) && reasons.size < MAX_REASONS) {
      log.warn(
        wasBroken
          ? 'the bus is still away'
          : 'the bus is away: subscriptions of 2025 wait for it, rates follow limits.without, and reads go on',
        { error },
      );
      reasons.add(reason);
    }
    wasBroken = true;
  }

  const whole = (): boolean => speaking.at !== undefined && speaking.at === hearing.at;

  function mend(): void {
    if (!whole()) return;
    setConnected();
    if (wasBroken) log.warn('the bus is there again: each subscription is reported as updated');
    // The first connection is reported as mended, too, because this replica may have started without the bus.
    wasBroken = false;
    reasons.clear();
    events.mended();
  }

  function received(message: string): void {
    const sealed = unsealable(message);
    const plain = sealed && unseal(sealed, bound)?.toString();
    if (plain === undefined) {
      if (!hasStrangers) log.error('a replica with none of these keys is on the bus: neither understands the other');
      hasStrangers = true;
      return;
    }
    const [from, text, number, agoMs] = JSON.parse(plain) as Message;
    if (from === self) return;
    if (number !== undefined) {
      const isMissing = agoMs === undefined ? missed.message(from, number) : missed.greeting(from, number, agoMs);
      if (isMissing) events.mended();
    }
    if (text !== NOTHING) events.received(text);
  }

  async function publish(client: Pick<Commands, 'publish' | 'sPublish'>, text: string, agoMs?: number): Promise<void> {
    const number = ++count;
    const message: Message = agoMs === undefined ? [self, text, number] : [self, text, number, agoMs];
    const sealed = seal(Buffer.from(JSON.stringify(message)), bound).toString('base64url');
    try {
      await (place.sharded ? client.sPublish(channel, sealed) : client.publish(channel, sealed));
    } catch (error) {
      // The bus itself tells the others of messages that were not sent, so the number is used again.
      if (count === number) count--;
      throw error;
    } finally {
      // Also noted for a message that timed out, because it may have arrived.
      sentAt = performance.now();
    }
  }

  async function hear(client: Client): Promise<void> {
    if (!place.sharded) return void (await client.subscribe(channel, received));
    await client.sSubscribe(channel, received).catch((error: Error) => {
      if (!error.message.includes('unknown command')) throw error;
      throw unavailable('A bus over a cluster needs Redis 7 or later, or Valkey', error);
    });
  }

  function ready(): void {
    mend();
    // The other connection may still go to the former master.
    lookSoon();
  }

  const locate = (signal: AbortSignal) => place.locate(signal);
  const speaking: Connection = keepConnected({
    open,
    locate,
    prepare: async (client) => {
      await check(client);
      // Messages over the previous connection may have gone to a server to which nobody listened any more.
      if (count > 0) await publish(client, NOTHING, performance.now() - sentAt);
    },
    onReady: ready,
    onBroken: broken,
  });
  const hearing: Connection = keepConnected({
    open,
    locate,
    prepare: async (client) => {
      await check(client);
      await hear(client);
    },
    onReady() {
      missed.begin();
      ready();
    },
    onBroken: broken,
  });
  const connections = [speaking, hearing];

  async function check(client: Client): Promise<void> {
    if (!place.moves) return;
    // A sentinel or node with old knowledge may name a server that has become a replica.
    const [role] = (await client.sendCommand(['ROLE'])) as readonly unknown[];
    if (role !== 'master') throw unavailable('The server of the bus is a replica, and no other one is the master yet');
  }

  const closing = new AbortController();
  let looking: Promise<void> | undefined;
  async function look(): Promise<void> {
    const before = connections.map(({ at }) => at);
    // While nobody answers, the connections stay as they are.
    const server = await place.locate(closing.signal).catch(() => undefined);
    if (server === undefined) return;
    // A connection that was made meanwhile may follow a newer answer, so it is left alone.
    for (const [index, connection] of connections.entries())
      if (connection.at === before[index]) connection.moveTo(server);
  }
  function lookSoon(): void {
    if (!place.moves || closed) return;
    looking ??= look().finally(() => {
      looking = undefined;
    });
  }
  const watch = place.moves ? setInterval(lookSoon, LOOK_MS) : undefined;

  function trouble(error: unknown): void {
    if (error instanceof Error && ELSEWHERE.test(error.message))
      for (const connection of connections) connection.leave(error);
    else lookSoon();
  }

  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, COMMAND_MS);
  });
  return {
    ready: Promise.race([connected, late]).finally(() => clearTimeout(timer)),
    carrier: {
      async send(text) {
        // Nothing is sent without a connection, so `sentAt` keeps the time of the previous message for the next greeting.
        if (speaking.at === undefined) {
          lookSoon();
          return false;
        }
        try {
          await publish(speaking.commands, text);
        } catch (error) {
          // A broken connection has reported its error already.
          if (speaking.at !== undefined) broken(error);
          trouble(error);
          return false;
        }
        if (wasBroken) mend();
        return true;
      },
      get whole() {
        return whole();
      },
      memory: memoryOf(speaking.commands, trouble),
      async close() {
        closed = true;
        clearInterval(watch);
        closing.abort();
        await Promise.all([...connections.map((connection) => connection.close()), looking]);
      },
    },
  };
}
