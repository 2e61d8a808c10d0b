/** A bus over Redis or Valkey. All that goes there is sealed: who reads it learns nothing, and who writes can invent nothing. */
import type { Bus, BusMemory } from '../../../core/bus.ts';
import { busProblem, type RedisAddress } from '../../../core/bus-address.ts';
import type { Log } from '../../../core/context.ts';
import { invalid, ResourceError } from '../../../core/errors.ts';
import { createSeal, type Keys, unsealable } from '../../../core/keys.ts';
import { createBus } from '../bus.ts';
import { createTaking } from '../taking.ts';
import { openCarrier } from './carrier.ts';
import { type Commands, loadClient, type OpenClient, serverAt } from './client.ts';
import { clusterPlace } from './cluster.ts';
import { redisLeases } from './leases.ts';
import type { Place } from './place.ts';
import { sentinelPlace } from './sentinel.ts';
import { redisTexts } from './texts.ts';

/** Stands before every key and the channel. A cluster keeps in one place what has the same text in braces. */
const PREFIX = '{vitrine}:';

/** Stands before what is counted. */
const RATE = 'rate';

const PORT = 6379;

export type RedisBusOptions = RedisAddress & {
  /** Authorities that sign the certificates of servers with TLS, as PEM. Default: those of Node.js. */
  readonly ca?: string | undefined;
  readonly keys: Keys;
  readonly log: Log;
};

/**
 * Resolves when it is connected, or has tried for two seconds: it goes on trying then.
 * @throws ResourceError `invalid` where an address is none, or the package is not installed
 */
export async function redisBus(options: RedisBusOptions): Promise<Bus> {
  const problem = busProblem(options);
  if (problem !== undefined) throw invalid(`The bus ${problem}`);
  const open = await loadClient(options.ca);
  const { keys, log } = options;
  const channel = `${PREFIX}bus`;
  let ready: Promise<unknown> = Promise.resolve();
  const bus = createBus((events) => {
    const place = placeOf(options, channel, open);
    const memoryOf = (commands: Commands, trouble: (error: unknown) => void) => sealedMemory(commands, keys, trouble);
    const opened = openCarrier({ place, open, channel, keys, log, events, memoryOf });
    ready = opened.ready;
    return opened.carrier;
  }, log);
  await ready;
  return bus;
}

/** @param key one that the bus has */
function placeOf(address: RedisAddress, key: string, open: OpenClient): Place {
  if ('sentinels' in address) return sentinelPlace(address, open);
  if ('cluster' in address) return clusterPlace(address, key, open);
  const server = serverAt(address.url, PORT);
  return { locate: async () => server, moves: false, sharded: false };
}

/**
 * Fields have the same seal each time, so that they are found again.
 * @param trouble hears of a command that has failed
 */
function sealedMemory(client: Commands, keys: Keys, trouble: (error: unknown) => void): BusMemory {
  const fields = createSeal(keys, 'vitrine bus field v1', { nonce: 'vitrine bus field nonce v1' });
  const texts = createSeal(keys, 'vitrine bus text v1');
  const sealedField = (key: string, field: string): string =>
    fields.seal(Buffer.from(field), Buffer.from(key)).toString('base64url');
  const take = createTaking(
    ({ RateLimiterRedis }, { most, seconds }) =>
      new RateLimiterRedis({
        storeClient: client,
        useRedisPackage: true,
        points: most,
        duration: seconds,
        keyPrefix: `${PREFIX}${RATE}`,
      }),
  );

  function nameOf(key: string, sealed: string): string | undefined {
    const name = unsealable(sealed);
    return name && fields.open(name, Buffer.from(key))?.toString();
  }

  async function done<T>(command: Promise<T>): Promise<T> {
    try {
      return await command;
    } catch (cause) {
      trouble(cause);
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
    take: (key, wanted, rate) => done(take(sealedField(RATE, key), wanted, rate)),
    ...redisLeases(client, done, (name) => `${PREFIX}lease:${sealedField('lease:', name)}`, sealedField),
    ...redisTexts(client, done, `${PREFIX}answers`),
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
