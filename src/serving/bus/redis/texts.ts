/**
 * Keeps texts that can be made again, in Redis: one key is a hash of the texts, and another one has their names in the order of
 * their last use. A third one has the time for which a text is kept. The scripts limit the bytes of all texts, so that room is left for sessions and leases.
 */
import type { BusMemory } from '../../../core/bus.ts';
import type { Commands } from './client.ts';

/**
 * The time in milliseconds. Redis measures it, because the clocks of replicas differ. Redis 4 lets a script that asks for the time
 * write only if it replicates what was written, and not itself.
 */
const NOW = `if redis.replicate_commands then redis.replicate_commands() end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * Keeps a text. Forgets up to 100 expired texts, and then those that were used longest ago, until all fit. The field `bytes` of
 * the hash holds the sum of all lengths; no text has this name. If Redis has dropped one of the two keys, the script deletes the
 * other one.
 */
const KEEP = `
local texts, order = KEYS[1], KEYS[2]
local name, text, ttl, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
if #name + #text > most then return redis.status_reply('OK') end
${NOW}
if redis.call('HLEN', texts) ~= redis.call('ZCARD', order) + 1 then redis.call('DEL', texts, order) end
local bytes = tonumber(redis.call('HGET', texts, 'bytes') or '0')
local function forget(each)
  bytes = bytes - #each - redis.call('HSTRLEN', texts, each)
  redis.call('HDEL', texts, each)
  redis.call('ZREM', order, each)
end
if redis.call('HEXISTS', texts, name) == 1 then forget(name) end
for _, each in ipairs(redis.call('ZRANGEBYSCORE', order, '-inf', now - ttl, 'LIMIT', 0, 100)) do forget(each) end
redis.call('HSET', texts, name, text)
redis.call('ZADD', order, now, name)
bytes = bytes + #name + #text
while bytes > most do forget(redis.call('ZRANGE', order, 0, 0)[1]) end
redis.call('HSET', texts, 'bytes', bytes)
redis.call('PEXPIRE', texts, ttl)
redis.call('PEXPIRE', order, ttl)
redis.call('SET', KEYS[3], ttl, 'PX', ttl)
return redis.status_reply('OK')
`;

/** Returns a text, and notes that it was used now. A text whose time is over counts as forgotten. */
const KEPT = `
local texts, order, name = KEYS[1], KEYS[2], ARGV[1]
local text = redis.call('HGET', texts, name)
if not text then return false end
${NOW}
local used, ttl = tonumber(redis.call('ZSCORE', order, name) or now), tonumber(redis.call('GET', KEYS[3]) or '0')
if ttl == 0 then return text end
if used + ttl <= now then return false end
redis.call('ZADD', order, 'XX', now, name)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl) end
return text
`;

/**
 * @param run runs a command, and turns errors of the client into errors of the bus
 * @param key the key of the hash. The other keys are made of it, and are in the same slot of a cluster
 */
export const redisTexts = (
  client: Pick<Commands, 'eval'>,
  run: <T>(command: Promise<T>) => Promise<T>,
  key: string,
): Pick<BusMemory, 'keep' | 'kept'> => ({
  async keep(name, text, { maxBytes, ttlMs }) {
    const values = [name, text, ...[ttlMs, maxBytes].map(String)];
    await run(client.eval(KEEP, { keys: keysOf(key), arguments: values }));
  },
  async kept(name) {
    const text = await run(client.eval(KEPT, { keys: keysOf(key), arguments: [name] }));
    return typeof text === 'string' ? text : undefined;
  },
});

const keysOf = (key: string): string[] => [key, `${key}:order`, `${key}:ttl`];
