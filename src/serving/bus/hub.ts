/** The center of a bus within one process. It passes texts between replicas and holds the memory that they share. */
import type { Bus, BusMemory } from '../../core/bus.ts';
import { ResourceError } from '../../core/errors.ts';
import { createLru } from '../../core/lru.ts';
import { createBus } from './bus.ts';
import { createKeptTexts } from './kept-texts.ts';
import { createLeases } from './leases.ts';
import { createTaking } from './taking.ts';

/** The most keys at a time. */
const MAX_KEPT = 200_000;

/** How often expired keys are removed, in milliseconds. */
const SWEEP_MS = 60_000;

export interface Hub {
  readonly memory: BusMemory;
  /**
   * Adds a replica.
   * @param receive called with each text of another replica
   * @returns `send` sends a text to all others; `leave` removes the replica
   */
  join(receive: (text: string) => void): { readonly send: (text: string) => void; readonly leave: () => void };
  close(): void;
}

/** @param elapsed the milliseconds of a monotonic clock, for leases */
export function createHub(now: () => number = Date.now, elapsed: () => number = () => performance.now()): Hub {
  const members = new Set<(text: string) => void>();
  const kept = new Map<string, { readonly fields: Map<string, string>; ends: number }>();
  const replaced = createLru<string, ReadonlyMap<string, string>>(MAX_KEPT);
  const texts = createKeptTexts(now);
  const sweep = setInterval(() => {
    for (const [key, { ends }] of kept) if (ends <= now()) kept.delete(key);
  }, SWEEP_MS);
  sweep.unref();

  const current = (key: string) => {
    const found = kept.get(key);
    return found !== undefined && found.ends > now() ? found : undefined;
  };

  return {
    memory: {
      async put(key, field, text, ttlMs) {
        const found = current(key) ?? { fields: new Map<string, string>(), ends: 0 };
        if (!kept.has(key) && kept.size >= MAX_KEPT)
          throw new ResourceError('unavailable', 'There are too many sessions to keep more of them');
        found.fields.set(field, text);
        found.ends = Math.max(found.ends, now() + ttlMs);
        kept.set(key, found);
        return found.fields.size;
      },
      async replace(key, field, text, ttlMs) {
        kept.delete(key);
        replaced.set(key, new Map([[field, text]]), { ttl: ttlMs });
      },
      async remove(key, field) {
        const fields = current(key)?.fields;
        fields?.delete(field);
        if (fields?.size === 0) kept.delete(key);
      },
      take: createTaking(
        ({ RateLimiterMemory }, { most, seconds }) =>
          new RateLimiterMemory({ points: most, duration: seconds, keyPrefix: '' }),
      ),
      ...createLeases(elapsed),
      keep: texts.keep,
      kept: texts.kept,
      async all(key) {
        return new Map([...(current(key)?.fields ?? []), ...(replaced.get(key) ?? [])]);
      },
    },
    join(receive) {
      members.add(receive);
      return {
        send(text) {
          for (const member of members) if (member !== receive) member(text);
        },
        leave: () => members.delete(receive),
      };
    },
    close() {
      clearInterval(sweep);
      members.clear();
      kept.clear();
      replaced.clear();
      texts.clear();
    },
  };
}

/** The bus of one replica, over a hub in the same process. */
export const busAt = (hub: Hub): Bus =>
  createBus(({ received }) => {
    const { send, leave } = hub.join(received);
    return {
      async send(text) {
        send(text);
        return true;
      },
      whole: true,
      memory: hub.memory,
      async close() {
        leave();
      },
    };
  });
