/** Keeps leases in Redis. Each lease is one key, so that its script also runs in a cluster. */
import type { BusMemory } from '../../../core/bus.ts';
import type { Commands } from './client.ts';

/** Takes or extends a lease. Returns 0 if somebody else holds it. Redis measures the time. */
const LEASE = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** Gives a lease back; does nothing if somebody else holds it. */
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/**
 * @param run runs a command, and turns errors of the client into errors of the bus
 * @param keyOf returns the key of a lease
 * @param sealed seals the holder of a lease, in the same way each time, so that the script can compare holders
 */
export const redisLeases = (
  client: Pick<Commands, 'eval'>,
  run: <T>(command: Promise<T>) => Promise<T>,
  keyOf: (name: string) => string,
  sealed: (name: string, holder: string) => string,
): Pick<BusMemory, 'lease' | 'release'> => ({
  async lease(name, holder, ttlMs) {
    const values = [sealed(name, holder), String(ttlMs)];
    return (await run(client.eval(LEASE, { keys: [keyOf(name)], arguments: values }))) === 1;
  },
  async release(name, holder) {
    await run(client.eval(RELEASE, { keys: [keyOf(name)], arguments: [sealed(name, holder)] }));
  },
});
