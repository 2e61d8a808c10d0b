/** Leases in Redis. Each is one key, so that it is right in a cluster, too. */
import type { BusMemory } from '../../../core/bus.ts';

/** The part of a client that is used. */
interface Evaluating {
  eval(script: string, options: { readonly keys: string[]; readonly arguments: string[] }): Promise<unknown>;
}

/** Takes a lease, or gives it more time, by the clock of Redis. */
const LEASE = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/**
 * @param run turns errors of the client into those of the bus
 * @param keyOf the key of a lease
 * @param sealed the same seal each time, of a holder under the name of its lease
 */
export const redisLeases = (
  client: Evaluating,
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
