/** Counts requests in this process. */
import type { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { overLimit } from '../../core/admission.ts';
import type { SharedRate } from '../../core/bus.ts';
import type { ResourceError } from '../../core/errors.ts';

/** A rate of the configuration. */
export interface Limit extends SharedRate {
  /** Its key in the configuration, such as `rates.principal`. */
  readonly name: string;
  /** The rate as it is written there, such as `600/min`. */
  readonly rate: string;
}

/** The refusal of a request that is over a rate. @param msLeft until it is worth trying again */
export const overRate = ({ name, rate }: Pick<Limit, 'name' | 'rate'>, msLeft: number): ResourceError =>
  overLimit(`Too many requests: there may be ${rate} (limits.${name})`, name, msLeft);

/** How much of a limit a principal or client has used. */
export interface Used {
  /** The principal or client. */
  readonly key: string;
  /** How many more requests pass in this period, at least. */
  readonly left: number;
  /** When the period is over, in milliseconds since 1970. */
  readonly ends: number;
}

/** Counts the requests of one limit. */
export interface Counter {
  readonly limit: Limit;
  /** Yields how much each key has used, in periods that are not over. */
  inUse(): Iterable<Used>;
  /** How many more requests with a key will surely pass. */
  left(key: string): number;
  /** @throws ResourceError `limited` */
  take(key: string): Promise<void>;
  close(): void;
}

/** The count of one key. */
interface Place {
  /** When its period is over, in milliseconds since 1970. */
  ends: number;
  /** How many more requests may pass in that period, at least. */
  left: number;
  /** How many requests it has counted, over all periods. */
  taken: number;
}

/** The key under which all keys without a place are counted together. */
const OTHERS = '\u0000 others';

export function createCounter(limit: Limit, maxKeys: number): Counter {
  const { name, rate, most, seconds } = limit;
  let limiter: RateLimiterMemory | undefined;
  /** Loads the library only when a request needs it: a host that starts the server over stdio waits for every module. */
  async function load(): Promise<RateLimiterMemory> {
    const { RateLimiterMemory } = await import('rate-limiter-flexible');
    limiter ??= new RateLimiterMemory({ points: most, duration: seconds, keyPrefix: '' });
    return limiter;
  }
  /** In the order in which their periods began. All periods are equally long, so the first one ends first. */
  const places = new Map<string, Place>();

  /** The place of a key, or a new one if there is room. A key keeps its place until its period is over. */
  function placeOf(key: string): Place | undefined {
    const existing = places.get(key);
    if (existing !== undefined) return existing;
    return places.size < maxKeys || makeRoom() ? begin(key, { ends: 0, left: 0, taken: 0 }) : undefined;
  }

  /** Removes only the places whose period is over: a key that lost its place earlier would start again at zero. */
  function makeRoom(): boolean {
    const now = Date.now();
    for (const [oldest, { ends }] of places) {
      if (ends > now) break;
      places.delete(oldest);
    }
    return places.size < maxKeys;
  }

  /** Begins a new period for a place. */
  function begin(key: string, place: Place): Place {
    places.delete(key);
    place.ends = Date.now() + seconds * 1_000;
    places.set(key, place);
    return place;
  }

  return {
    limit,
    *inUse() {
      const now = Date.now();
      for (const [key, { left, ends }] of places) if (ends > now) yield { key, left: Math.max(0, left), ends };
    },
    left(key) {
      const place = places.get(key);
      return place === undefined || place.ends <= Date.now() ? 0 : place.left;
    },
    async take(key) {
      const counting = limiter ?? (await load());
      const place = placeOf(key);
      const turn = place === undefined ? 0 : ++place.taken;
      // The limiter counts at once, but its answer comes later.
      if (place !== undefined) place.left--;
      let counted: RateLimiterRes;
      try {
        counted = await counting.consume(place === undefined ? OTHERS : key);
      } catch (full) {
        throw overRate({ name, rate }, (full as RateLimiterRes).msBeforeNext);
      }
      if (place === undefined) return;
      if (counted.isFirstInDuration) begin(key, place);
      place.left = counted.remainingPoints - (place.taken - turn);
    },
    close() {
      // The limiter has a timer for each key.
      for (const key of [...places.keys(), OTHERS]) void limiter?.delete(key);
      places.clear();
    },
  };
}
