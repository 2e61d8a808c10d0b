/** How many requests may come in a time: by principal, client, method and tool (SEC-TOOL-2, SEC-UTIL-4, SEC-UTIL-5). */
import type { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type AskedFor, overLimit } from '../../core/admission.ts';
import { ANONYMOUS, type Principal } from '../../core/context.ts';
import { invalid, type ResourceError } from '../../core/errors.ts';

/** A number of requests in a period, as in `600/min`; the period is `s`, `min` or `h`. `off` is no limit. */
export type Rate = string;

export interface RateOptions {
  /** Requests of one principal. Default: 6000/min. */
  readonly principal?: Rate | undefined;
  /**
   * Requests of all anonymous callers together. Default: off; where other callers have names (`anonymousIsOne`), the rate of
   * `principal`.
   */
  readonly anonymous?: Rate | undefined;
  /** Requests of one OAuth client, for all principals together that it acts for. Default: 60000/min. */
  readonly client?: Rate | undefined;
  /**
   * Requests of one principal with this method of the wire, such as `tools/call`.
   * Default: 3000/min of `tools/call` and of `completion/complete`.
   */
  readonly methods?: Readonly<Record<string, Rate>> | undefined;
  /** Calls by one principal of the tool with this name, whether or not such a tool exists. Default: none. */
  readonly tools?: Readonly<Record<string, Rate>> | undefined;
}

export const DEFAULT_RATES = {
  principal: '6000/min',
  anonymous: 'off',
  client: '60000/min',
  methods: { 'tools/call': '3000/min', 'completion/complete': '3000/min' },
} as const;

/** Most keys (principals or clients) that one limit counts separately; further keys share one count until a period ends. */
export const MAX_KEYS = 10_000;

/** Matches a rate, such as `600/min` or `off`. */
export const RATE = /^(?:off|([1-9]\d{0,8})\/(s|min|h))$/;

const SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3_600 };

export interface Rates {
  /**
   * Returns a function that counts the request, where the request is surely within its rates. The caller calls this function
   * before anything else is counted, or never. Undefined where the caller has to use `take`, since the request is the first of
   * its period, or may be refused.
   */
  atOnce(asked: AskedFor, principal: Principal): (() => void) | undefined;
  /** @throws ResourceError `limited` */
  take(asked: AskedFor, principal: Principal): Promise<void>;
  close(): void;
}

/** @param anonymousIsOne anonymous callers count as one principal among others */
export function createRates(options: RateOptions = {}, anonymousIsOne = false, maxKeys = MAX_KEYS): Rates {
  const principalRate = options.principal ?? DEFAULT_RATES.principal;
  const principals = createCounter('rates.principal', principalRate, maxKeys);
  const anonymous = createCounter(
    'rates.anonymous',
    options.anonymous ?? (anonymousIsOne ? principalRate : DEFAULT_RATES.anonymous),
    maxKeys,
  );
  const clients = createCounter('rates.client', options.client ?? DEFAULT_RATES.client, maxKeys);
  const methods = countersOf('rates.methods', { ...DEFAULT_RATES.methods, ...options.methods }, maxKeys);
  const tools = countersOf('rates.tools', options.tools ?? {}, maxKeys);
  const counts = (principal: Principal, rated: boolean): boolean =>
    rated || anonymousIsOne || principal.id !== ANONYMOUS.id;

  function dueOf({ method, name }: AskedFor, principal: Principal): Due | undefined {
    const { id, clientId, issuer } = principal;
    // Builds the chain from its last counter on, since each link holds the next one.
    let due: Due | undefined;
    const ofTool = method === 'tools/call' && name !== undefined ? tools.get(name) : undefined;
    if (ofTool !== undefined) due = { counter: ofTool, key: id, next: due };
    const ofMethod = methods.get(method);
    // A method's default rate is for one principal. Anonymous callers share one id, so it counts for them only if they are one.
    if (ofMethod !== undefined && counts(principal, options.methods?.[method] !== undefined))
      due = { counter: ofMethod, key: id, next: due };
    if (clients !== undefined && clientId !== undefined)
      due = { counter: clients, key: `${issuer ?? ''} ${clientId}`, next: due };
    const whole = id === ANONYMOUS.id ? anonymous : principals;
    if (whole !== undefined) due = { counter: whole, key: id, next: due };
    return due;
  }

  return {
    atOnce(asked, principal) {
      const due = dueOf(asked, principal);
      if (due === undefined) return NOTHING_TO_COUNT;
      for (let each: Due | undefined = due; each !== undefined; each = each.next)
        if (each.counter.left(each.key) < 1) return undefined;
      return () => {
        for (let each: Due | undefined = due; each !== undefined; each = each.next)
          each.counter.take(each.key).catch(ignore);
      };
    },
    take(asked, principal) {
      const due = dueOf(asked, principal);
      return due === undefined ? NOTHING_DUE : takeAll(due);
    },
    close() {
      for (const each of [principals, anonymous, clients, ...methods.values(), ...tools.values()]) each?.close();
    },
  };
}

/** A counter that counts a request, its key there, and the next counter for the same request. */
interface Due {
  readonly counter: Counter;
  readonly key: string;
  readonly next: Due | undefined;
}

/** Takes from one counter after the other: if one refuses the request, the counters behind it do not count it. */
async function takeAll(first: Due): Promise<void> {
  for (let due: Due | undefined = first; due !== undefined; due = due.next) await due.counter.take(due.key);
}

const NOTHING_DUE = Promise.resolve();

const ignore = (): void => {};

const NOTHING_TO_COUNT = ignore;

/** One limit. */
interface Counter {
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

function countersOf(
  name: string,
  rates: Readonly<Record<string, Rate>>,
  maxKeys: number,
): ReadonlyMap<string, Counter> {
  const entries = Object.entries(rates).flatMap(([key, rate]): [string, Counter][] => {
    const counter = createCounter(`${name}.${key}`, rate, maxKeys);
    return counter === undefined ? [] : [[key, counter]];
  });
  return new Map(entries);
}

const OTHERS = '\u0000 others';

/** @throws ResourceError `invalid` for a text that is no rate */
function createCounter(name: string, rate: Rate, maxKeys: number): Counter | undefined {
  const found = RATE.exec(rate);
  if (found === null)
    throw invalid(`limits.${name}: ${JSON.stringify(rate)} is no rate; write it as in 600/min, or off`);
  const [, count, unit = ''] = found;
  if (count === undefined) return undefined;
  const points = Number(count);
  const duration = SECONDS[unit] ?? 60;
  let limiter: RateLimiterMemory | undefined;
  /** Loads the library only when a request needs it: a host that starts the server over stdio waits for every module. */
  async function load(): Promise<RateLimiterMemory> {
    const { RateLimiterMemory } = await import('rate-limiter-flexible');
    limiter ??= new RateLimiterMemory({ points, duration, keyPrefix: '' });
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
    place.ends = Date.now() + duration * 1_000;
    places.set(key, place);
    return place;
  }

  const refusal = ({ msBeforeNext }: RateLimiterRes): ResourceError =>
    overLimit(`Too many requests: there may be ${rate} (limits.${name})`, name, msBeforeNext);

  return {
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
        throw refusal(full as RateLimiterRes);
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
