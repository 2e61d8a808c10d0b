/** Carries texts between replicas over Redis: one connection speaks and remembers, another one hears. */
import type { BusMemory } from '../../../core/bus.ts';
import type { Log } from '../../../core/context.ts';
import { createSeal, type Keys, unsealable } from '../../../core/keys.ts';
import type { Carrier, CarrierEvents } from '../bus.ts';
import { createMissed } from '../missed.ts';
import { type Client, COMMAND_MS, type Commands, type OpenClient, unavailable } from './client.ts';
import { type Connection, keepConnected } from './connection.ts';
import type { Place } from './place.ts';

/** Between two questions whether the server is another one now, in milliseconds. */
const LOOK_MS = 2_000;

/** Different reasons for which the bus is away that the log says, until it is there again. */
const MAX_REASONS = 8;

/** Redis says with these that a key, or what is written, is for another server. */
const ELSEWHERE = /^(MOVED|ASK|READONLY|CLUSTERDOWN|MASTERDOWN)\b/;

/** A greeting carries no messages. */
const NOTHING = '[]';

export interface Carrying {
  readonly place: Place;
  readonly open: OpenClient;
  readonly channel: string;
  readonly keys: Keys;
  readonly log: Log;
  readonly events: CarrierEvents;
  /** @param trouble hears of a command that has failed */
  memoryOf(commands: Commands, trouble: (error: unknown) => void): BusMemory;
}

export interface OpenedCarrier {
  readonly carrier: Carrier;
  /** Resolves when it is connected, or has tried for a while. */
  readonly ready: Promise<void>;
}

/** The sender, its text, how many it has sent with this one, and in a greeting how long ago it last said something, in milliseconds. */
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
  let saidAt = 0;
  let begun: () => void = () => {};
  const connected = new Promise<void>((resolve) => {
    begun = resolve;
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

  function again(): void {
    if (!whole()) return;
    begun();
    if (wasBroken) log.warn('the bus is there again: everything subscribed to is told of');
    // Also the first time: this replica may have begun without it.
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

  async function say(client: Pick<Commands, 'publish' | 'sPublish'>, text: string, agoMs?: number): Promise<void> {
    const number = ++count;
    const message: Message = agoMs === undefined ? [self, text, number] : [self, text, number, agoMs];
    const sealed = seal(Buffer.from(JSON.stringify(message)), bound).toString('base64url');
    try {
      await (place.sharded ? client.sPublish(channel, sealed) : client.publish(channel, sealed));
      saidAt = performance.now();
    } catch (error) {
      // The others are told so in another way, and need not find out.
      if (count === number) count--;
      throw error;
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
    again();
    // The other connection may be to a server that was the one before.
    lookSoon();
  }

  const locate = (signal: AbortSignal) => place.locate(signal);
  const speaking: Connection = keepConnected({
    open,
    locate,
    prepare: async (client) => {
      await check(client);
      // Over the connection before, what it said may have gone to a server that nobody listened to any more.
      if (count > 0) await say(client, NOTHING, performance.now() - saidAt);
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
    // Somebody may still know a server as the master that has become a replica.
    const [role] = (await client.sendCommand(['ROLE'])) as readonly unknown[];
    if (role !== 'master') throw unavailable('The server of the bus is a replica, and no other one is the master yet');
  }

  const closing = new AbortController();
  let looking: Promise<void> | undefined;
  async function look(): Promise<void> {
    const before = connections.map(({ at }) => at);
    // The connection that there is stays while nobody answers.
    const server = await place.locate(closing.signal).catch(() => undefined);
    if (server === undefined) return;
    // One that is new since then may know better.
    for (const [index, each] of connections.entries()) if (each.at === before[index]) each.moveTo(server);
  }
  function lookSoon(): void {
    if (!place.moves || closed) return;
    looking ??= look().finally(() => {
      looking = undefined;
    });
  }
  const watch = place.moves ? setInterval(lookSoon, LOOK_MS) : undefined;

  function trouble(error: unknown): void {
    if (error instanceof Error && ELSEWHERE.test(error.message)) for (const each of connections) each.leave(error);
    else lookSoon();
  }

  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, COMMAND_MS);
  });
  return {
    ready: Promise.race([connected, late]).finally(() => clearTimeout(timer)),
    carrier: {
      send: (text) =>
        say(speaking.commands, text).then(
          () => {
            if (wasBroken) again();
            return true;
          },
          (error: unknown) => {
            // A connection that is broken has said so itself.
            if (speaking.at !== undefined) broken(error);
            trouble(error);
            return false;
          },
        ),
      get whole() {
        return whole();
      },
      memory: memoryOf(speaking.commands, trouble),
      async close() {
        closed = true;
        clearInterval(watch);
        closing.abort();
        await Promise.all([...connections.map((each) => each.close()), looking]);
      },
    },
  };
}
