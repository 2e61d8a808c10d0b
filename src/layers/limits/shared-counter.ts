/** Counts requests in all replicas together. Each replica takes a few of the requests that are left, and lets them pass by itself. */
import type { Bus } from '../../core/bus.ts';
import { ResourceError } from '../../core/errors.ts';
import { createLru } from '../../core/lru.ts';
import { type Counter, type Limit, overRate } from './counter.ts';

/**
 * A replica takes one of this many parts of a rate at a time, and at least one request. When all parts are taken, a replica may
 * still have requests left, while others refuse requests too early. Together they never let too many pass.
 */
const PARTS = 300;

export interface SharedRates {
  readonly bus: Pick<Bus, 'whole' | 'memory'>;
  /** While the bus is away, each replica counts by itself, or refuses requests that have a rate. */
  readonly without: 'local' | 'refuse';
}

/** The part that a replica has of the count of one key. */
interface Place {
  /** Requests that may pass without asking the bus. */
  left: number;
  /** When the period ends to which they belong, in milliseconds since 1970. */
  ends: number;
  /** Whether no part of that period is left to take. */
  over: boolean;
  /** The question to the bus that is under way. */
  asking: Promise<void> | undefined;
}

/** @param alone counts while the bus is away */
export function createSharedCounter(
  limit: Limit,
  alone: Counter,
  maxKeys: number,
  { bus, without }: SharedRates,
): Counter {
  const { name, most, seconds } = limit;
  const part = Math.max(1, Math.floor(most / PARTS));
  const places = createLru<string, Place>(maxKeys);

  function placeOf(key: string): Place {
    const place = places.get(key) ?? { left: 0, ends: 0, over: false, asking: undefined };
    places.set(key, place);
    return place;
  }

  async function ask(key: string, place: Place): Promise<void> {
    const { got, msLeft } = await bus.memory.take(`${name} ${key}`, part, { most, seconds });
    const ends = Date.now() + msLeft;
    // Requests that are left from a period that is over do not count any more.
    place.left = got + (place.ends > Date.now() ? place.left : 0);
    place.over = got === 0;
    place.ends = ends;
  }

  async function takeAlone(key: string): Promise<void> {
    if (without === 'local') return alone.take(key);
    throw new ResourceError(
      'unavailable',
      `Requests are counted by all replicas together (limits.${name}), and the bus for that is away; try again later`,
    );
  }

  return {
    limit,
    *inUse() {
      if (!bus.whole) {
        yield* alone.inUse();
        return;
      }
      const now = Date.now();
      for (const [key, { left, ends }] of places.entries()) if (ends > now) yield { key, left, ends };
    },
    left(key) {
      if (!bus.whole) return without === 'local' ? alone.left(key) : 0;
      const place = places.get(key);
      return place === undefined || place.ends <= Date.now() ? 0 : place.left;
    },
    async take(key) {
      for (;;) {
        if (!bus.whole) return takeAlone(key);
        const place = placeOf(key);
        const now = Date.now();
        if (place.ends > now && place.left > 0) {
          place.left--;
          return;
        }
        if (place.ends > now && place.over) throw overRate(limit, place.ends - now);
        try {
          place.asking ??= ask(key, place).finally(() => {
            place.asking = undefined;
          });
          await place.asking;
        } catch (error) {
          if (error instanceof ResourceError && error.code === 'unavailable') return takeAlone(key);
          throw error;
        }
      }
    },
    close() {
      alone.close();
      places.clear();
    },
  };
}
