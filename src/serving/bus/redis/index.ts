/**
 * A bus over Redis or Valkey. Messages, and the contents of the memory, are sealed: somebody who can read the server cannot read
 * them, and somebody who can write to it cannot invent them. The callers of `keep` seal its texts themselves.
 */
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

/** Begins every key and the channel. A cluster keeps all keys with the same text in braces in the same slot. */
const PREFIX = '{vitrine}:';

/** Begins the keys of rates, after `PREFIX`. */
const RATE = 'rate';

const PORT = 6379;

export type RedisBusOptions = RedisAddress & {
  /** Certificate authorities for servers with TLS, as PEM. Default: those of Node.js. */
  readonly ca?: string | undefined;
  readonly keys: Keys;
  readonly log: Log;
};

/**
 * Opens the bus. Resolves when it is connected, or after two seconds; then it goes on trying to connect.
 * @throws ResourceError `invalid` if an address is malformed, or the package is not installed
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

/** @param key any key of the bus; in a cluster it decides which server is used */
function placeOf(address: RedisAddress, key: string, open: OpenClient): Place {
  if ('sentinels' in address) return sentinelPlace(address, open);
  if ('cluster' in address) return clusterPlace(address, key, open);
  const server = serverAt(address.url, PORT);
  return { locate: async () => server, moves: false, sharded: false };
}

/**
 * The memory of the bus, with sealed fields and texts, except those of `keep`. A field is sealed in the same way each time, so
 * that it is found again.
 * @param trouble called with the error of each command that fails
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

  function openedField(key: string, sealed: string): string | undefined {
    const field = unsealable(sealed);
    return field && fields.open(field, Buffer.from(key))?.toString();
  }

  async function run<T>(command: Promise<T>): Promise<T> {
    try {
      return await command;
    } catch (cause) {
      trouble(cause);
      throw new ResourceError(
        'unavailable',
        'The bus does not answer, so the server cannot keep this for all replicas; try again later',
        {
          cause,
        },
      );
    }
  }

  return {
    async put(key, field, text, ttlMs) {
      const sealed = texts.seal(Buffer.from(text), Buffer.from(`${key} ${field}`)).toString('base64url');
      const at = `${PREFIX}${key}`;
      const [, , count] = await run(
        client.multi().hSet(at, sealedField(key, field), sealed).pExpire(at, ttlMs).hLen(at).exec(),
      );
      return Number(count);
    },
    async replace(key, field, text, ttlMs) {
      const sealed = texts.seal(Buffer.from(text), Buffer.from(`${key} ${field}`)).toString('base64url');
      const at = `${PREFIX}${key}`;
      await run(client.multi().del(at).hSet(at, sealedField(key, field), sealed).pExpire(at, ttlMs).exec());
    },
    async remove(key, field) {
      // Another replica may have sealed the same field with another one of the keys, so every field is opened.
      const names = (await run(client.hKeys(`${PREFIX}${key}`))).filter((name) => openedField(key, name) === field);
      if (names.length > 0) await run(client.hDel(`${PREFIX}${key}`, names));
    },
    take: (key, wanted, rate) => run(take(sealedField(RATE, key), wanted, rate)),
    ...redisLeases(client, run, (name) => `${PREFIX}lease:${sealedField('lease:', name)}`, sealedField),
    ...redisTexts(client, run, `${PREFIX}answers`),
    async all(key) {
      const found = await run(client.hGetAll(`${PREFIX}${key}`));
      return new Map(
        Object.entries(found).flatMap(([sealedName, sealedText]): [string, string][] => {
          const field = openedField(key, sealedName);
          const value = unsealable(sealedText);
          const text = value && texts.open(value, Buffer.from(`${key} ${field}`))?.toString();
          return field === undefined || text === undefined ? [] : [[field, text]];
        }),
      );
    },
  };
}
