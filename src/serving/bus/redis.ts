/** A bus over Redis or Valkey. All that goes there is sealed: who reads it learns nothing, and who writes can invent nothing. */
import { type Bus, type BusMemory, busProblem } from '../../core/bus.ts';
import type { Log } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { createSeal, type Keys, unsealable } from '../../core/keys.ts';
import { missingPackage } from '../../core/missing-package.ts';
import { type Carrier, type CarrierEvents, createBus } from './bus.ts';

const PACKAGE = '@redis/client';

/** Between attempts to connect again, in milliseconds: the first, and the most that it grows to. */
const RETRY_MS = { first: 50, most: 2_000 } as const;

/** How long a command may take, and a start without the bus waits for it, in milliseconds. */
const COMMAND_MS = 2_000;

/** Between two signs of life, and until a connection without one counts as broken, in milliseconds. */
const ALIVE_MS = { ping: 3_000, broken: 10_000 } as const;

/** Commands that wait for their answer. */
const MAX_COMMANDS = 20_000;

/** Stands before every key and channel. */
const PREFIX = 'vitrine:';

export interface RedisBusOptions {
  /** As in `redis://user:password@host:6379/0`; with `rediss:` over TLS. */
  readonly url: string;
  readonly keys: Keys;
  readonly log: Log;
}

/**
 * Resolves when it is connected, or has tried for two seconds: it goes on trying then.
 * @throws ResourceError `invalid` where the package is not installed
 */
export async function redisBus(options: RedisBusOptions): Promise<Bus> {
  const problem = busProblem(options.url);
  if (problem !== undefined) throw invalid(`The bus ${problem}`);
  const { createClient } = await import('@redis/client').catch((cause: unknown) => {
    throw missingPackage('A bus over Redis needs a package that is not here', [PACKAGE], { cause });
  });
  const connect = (): Client =>
    createClient({
      url: options.url,
      RESP: 2,
      name: 'vitrine',
      maintNotifications: 'disabled',
      disableClientInfo: true,
      // A command that waits for a broken connection would be done late, when somebody else has done it.
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_COMMANDS,
      commandOptions: { timeout: COMMAND_MS },
      pingInterval: ALIVE_MS.ping,
      socket: {
        connectTimeout: COMMAND_MS,
        socketTimeout: ALIVE_MS.broken,
        reconnectStrategy: (retries) => Math.min(RETRY_MS.first * 2 ** Math.min(retries, 10), RETRY_MS.most),
      },
    }) as unknown as Client;
  let ready: Promise<unknown> = Promise.resolve();
  const bus = createBus((events) => {
    const opened = openCarrier(connect(), connect(), options, events);
    ready = opened.ready;
    return opened.carrier;
  });
  await ready;
  return bus;
}

/** The part of the package's client that is used. */
interface Client {
  readonly isReady: boolean;
  on(event: 'error' | 'ready', listener: (error: unknown) => void): unknown;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  publish(channel: string, message: string): Promise<unknown>;
  hKeys(key: string): Promise<string[]>;
  hDel(key: string, fields: string[]): Promise<unknown>;
  hGetAll(key: string): Promise<Record<string, string>>;
  multi(): Multi;
  destroy(): void;
}

interface Multi {
  del(key: string): Multi;
  hSet(key: string, field: string, value: string): Multi;
  pExpire(key: string, ms: number): Multi;
  hLen(key: string): Multi;
  exec(): Promise<readonly unknown[]>;
}

interface Opened {
  readonly carrier: Carrier;
  readonly ready: Promise<unknown>;
}

/** @param hearing a connection of its own: one that is subscribed can do nothing else */
function openCarrier(client: Client, hearing: Client, { keys, log }: RedisBusOptions, events: CarrierEvents): Opened {
  const channel = `${PREFIX}bus`;
  const bound = Buffer.from(channel);
  const { seal, open } = createSeal(keys, 'vitrine bus v1');
  const self = crypto.randomUUID();
  let closed = false;
  let wasBroken = false;
  let hasStrangers = false;

  const broken = (error: unknown): void => {
    if (!wasBroken && !closed)
      log.warn('the bus is away: subscriptions of 2025 wait for it, and reads go on', { error });
    wasBroken = true;
  };
  let subscribed = false;
  let subscribing: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;
  const whole = (): boolean => client.isReady && hearing.isReady && subscribed;
  const again = (): void => {
    if (!whole()) return;
    if (wasBroken) log.warn('the bus is there again: everything subscribed to is told of');
    // Also the first time: this replica may have begun without it.
    wasBroken = false;
    events.mended();
  };
  /** Tries until it succeeds: what was subscribed to once, the package subscribes to again by itself. */
  function subscribe(): Promise<void> {
    subscribing ??= hearing.subscribe(channel, received).then(
      () => {
        subscribed = true;
        again();
      },
      (error: unknown) => {
        subscribing = undefined;
        broken(error);
        if (closed) return;
        retry = setTimeout(() => void subscribe(), RETRY_MS.most);
        retry.unref();
      },
    );
    return subscribing;
  }
  for (const each of [client, hearing]) each.on('error', broken);
  client.on('ready', again);
  hearing.on('ready', () => (subscribed ? again() : void subscribe()));

  function received(message: string): void {
    const sealed = unsealable(message);
    const plain = sealed && open(sealed, bound)?.toString();
    if (plain === undefined) {
      if (!hasStrangers) log.error('a replica with none of these keys is on the bus: neither understands the other');
      hasStrangers = true;
      return;
    }
    const [from, text] = JSON.parse(plain) as readonly [string, string];
    if (from !== self) events.received(text);
  }

  const ready = Promise.all([client.connect(), hearing.connect().then(subscribe)]).catch(broken);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, COMMAND_MS);
  });
  return {
    ready: Promise.race([ready, late]).finally(() => clearTimeout(timer)),
    carrier: {
      async send(text) {
        const sealed = seal(Buffer.from(JSON.stringify([self, text])), bound).toString('base64url');
        return client.publish(channel, sealed).then(
          () => {
            if (wasBroken) again();
            return true;
          },
          (error: unknown) => {
            broken(error);
            return false;
          },
        );
      },
      get whole() {
        return whole();
      },
      memory: sealedMemory(client, keys),
      async close() {
        closed = true;
        clearTimeout(retry);
        client.destroy();
        hearing.destroy();
      },
    },
  };
}

/** Fields have the same seal each time, so that they are found again. */
function sealedMemory(client: Client, keys: Keys): BusMemory {
  const fields = createSeal(keys, 'vitrine bus field v1', { nonce: 'vitrine bus field nonce v1' });
  const texts = createSeal(keys, 'vitrine bus text v1');
  const sealedField = (key: string, field: string): string =>
    fields.seal(Buffer.from(field), Buffer.from(key)).toString('base64url');

  function nameOf(key: string, sealed: string): string | undefined {
    const name = unsealable(sealed);
    return name && fields.open(name, Buffer.from(key))?.toString();
  }

  async function done<T>(command: Promise<T>): Promise<T> {
    try {
      return await command;
    } catch (cause) {
      throw new ResourceError('unavailable', 'The server cannot keep what it would promise; try again later', {
        cause,
      });
    }
  }

  return {
    async put(key, field, text, ttlMs) {
      const sealed = texts.seal(Buffer.from(text), Buffer.from(`${key} ${field}`)).toString('base64url');
      const at = `${PREFIX}${key}`;
      const [, , count] = await done(
        client.multi().hSet(at, sealedField(key, field), sealed).pExpire(at, ttlMs).hLen(at).exec(),
      );
      return Number(count);
    },
    async replace(key, field, text, ttlMs) {
      const sealed = texts.seal(Buffer.from(text), Buffer.from(`${key} ${field}`)).toString('base64url');
      const at = `${PREFIX}${key}`;
      await done(client.multi().del(at).hSet(at, sealedField(key, field), sealed).pExpire(at, ttlMs).exec());
    },
    async remove(key, field) {
      // Another replica may have sealed it with another one of the keys.
      const names = (await done(client.hKeys(`${PREFIX}${key}`))).filter((name) => nameOf(key, name) === field);
      if (names.length > 0) await done(client.hDel(`${PREFIX}${key}`, names));
    },
    async all(key) {
      const found = await done(client.hGetAll(`${PREFIX}${key}`));
      return new Map(
        Object.entries(found).flatMap(([sealedName, sealedText]): [string, string][] => {
          const field = nameOf(key, sealedName);
          const value = unsealable(sealedText);
          const text = value && texts.open(value, Buffer.from(`${key} ${field}`))?.toString();
          return field === undefined || text === undefined ? [] : [[field, text]];
        }),
      );
    },
  };
}
