/** Counts requests in this process. */
import type { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { overLimit } from '../../core/admission.ts';
import type { SharedRate } from '../../core/bus.ts';
import type { ResourceError } from '../../core/errors.ts';

/** A rate that somebody has configured. */
export interface Limit extends SharedRate {
  /** Its key in the configuration, such as `rates.principal`. */
  readonly name: string;
  /** As it is written there. */
  readonly rate: string;
}

/** The refusal of a request that is over a rate. @param msLeft until it is worth trying again */
export const overRate = ({ name, rate }: Pick<Limit, 'name' | 'rate'>, msLeft: number): ResourceError =>
  overLimit(`Too many requests: there may be ${rate} (limits.${name})`, name, msLeft);

/** How much of a limit somebody has used. */
export interface Used {
  /** The principal or client. */
  readonly key: string;
  /** How many more requests pass in this period, at least. */
  readonly left: number;
  /** When the period is over, in milliseconds since 1970. */
  readonly ends: number;
}

/** One limit. */
export interface Counter {
  readonly limit: Limit;
  /** Tells what is used now, in periods that are not over. */
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

  /** The place of a key, or a new one where there is room; a key keeps its place. */
  function placeOf(key: string): Place | undefined {
    const own = places.get(key);
    if (own !== undefined) return own;
    return places.size < maxKeys || makeRoom() ? begin(key, { ends: 0, left: 0, taken: 0 }) : undefined;
  }

  /** Removes the places whose period is over, and no other: the count of its key would begin anew. */
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
      let said: RateLimiterRes;
      try {
        said = await counting.consume(place === undefined ? OTHERS : key);
      } catch (full) {
        throw overRate({ name, rate }, (full as RateLimiterRes).msBeforeNext);
      }
      if (place === undefined) return;
      if (said.isFirstInDuration) begin(key, place);
      place.left = said.remainingPoints - (place.taken - turn);
    },
    close() {
      // The limiter has a timer for each key.
      for (const key of [...places.keys(), OTHERS]) void limiter?.delete(key);
      places.clear();
    },
  };
}
