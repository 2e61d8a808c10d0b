/** How many requests may come in a time: by principal, client, method and tool (SEC-TOOL-2, SEC-UTIL-4, SEC-UTIL-5). */
import type { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type AskedFor, overLimit } from '../../core/admission.ts';
import { ANONYMOUS, type Principal } from '../../core/context.ts';
import { invalid, type ResourceError } from '../../core/errors.ts';

/** So many in a time, as in `600/min`; the time is `s`, `min` or `h`. `off` is no limit. */
export type Rate = string;

export interface RateOptions {
  /** Requests of one principal. Default: 6000/min. */
  readonly principal?: Rate | undefined;
  /**
   * Requests of all anonymous callers together. Default: off, or `principal` where callers may also say who they are
   * (`anonymousIsOne`).
   */
  readonly anonymous?: Rate | undefined;
  /** Requests of one OAuth client, over all for whom it acts. Default: 60000/min. */
  readonly client?: Rate | undefined;
  /**
   * Requests of one principal with this method of the wire, such as `tools/call`.
   * Default: 3000/min of `tools/call` and of `completion/complete`.
   */
  readonly methods?: Readonly<Record<string, Rate>> | undefined;
  /** Calls by one principal of the tool with this name, whether or not there is one. Default: none. */
  readonly tools?: Readonly<Record<string, Rate>> | undefined;
}

export const DEFAULT_RATES = {
  principal: '6000/min',
  anonymous: 'off',
  client: '60000/min',
  methods: { 'tools/call': '3000/min', 'completion/complete': '3000/min' },
} as const;

/** Of what counts at the same time for one limit; further ones share one count until one of these is over. */
export const MAX_KEYS = 10_000;

/** Matches a rate, such as `600/min` or `off`. */
export const RATE = /^(?:off|([1-9]\d{0,8})\/(s|min|h))$/;

const SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3_600 };

export interface Rates {
  /**
   * Gives a function that counts a request which is surely within its rates. The caller calls it before anything else is
   * counted, or not at all. Undefined where the request has to be taken: it is the first of its time, or may be refused.
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
    // The last one first: each leads to the next.
    let due: Due | undefined;
    const ofTool = method === 'tools/call' && name !== undefined ? tools.get(name) : undefined;
    if (ofTool !== undefined) due = { counter: ofTool, key: id, next: due };
    const ofMethod = methods.get(method);
    // Without a limit of their own, those who share a name are held to nothing that is for one of them by default.
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

/** One after the other: what is refused by one is not counted by those behind it. */
async function takeAll(first: Due): Promise<void> {
  for (let due: Due | undefined = first; due !== undefined; due = due.next) await due.counter.take(due.key);
}

const NOTHING_DUE = Promise.resolve();

const ignore = (): void => {};

const NOTHING_TO_COUNT = ignore;

/** One limit. */
interface Counter {
  /** How many more are known to pass under a key. */
  left(key: string): number;
  /** @throws ResourceError `limited` */
  take(key: string): Promise<void>;
  close(): void;
}

/** Of one key that has a count of its own. */
interface Place {
  /** When its time is over, in milliseconds since 1970. */
  ends: number;
  /** How many more may pass in that time, at least. */
  left: number;
  /** How often it was taken from, ever. */
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

/** @throws ResourceError `invalid` for what is no rate */
function createCounter(name: string, rate: Rate, maxKeys: number): Counter | undefined {
  const found = RATE.exec(rate);
  if (found === null)
    throw invalid(`limits.${name}: ${JSON.stringify(rate)} is no rate; write it as in 600/min, or off`);
  const [, count, unit = ''] = found;
  if (count === undefined) return undefined;
  const points = Number(count);
  const duration = SECONDS[unit] ?? 60;
  let limiter: RateLimiterMemory | undefined;
  /** Loaded when it is first wanted: a host that starts the server over stdio waits for every module. */
  async function load(): Promise<RateLimiterMemory> {
    const { RateLimiterMemory } = await import('rate-limiter-flexible');
    limiter ??= new RateLimiterMemory({ points, duration, keyPrefix: '' });
    return limiter;
  }
  /** All times are equally long, so the first of them ends first. */
  const places = new Map<string, Place>();

  /** A count of its own where there is room; whoever has one keeps it. */
  function placeOf(key: string): Place | undefined {
    const own = places.get(key);
    if (own !== undefined) return own;
    return places.size < maxKeys || makeRoom() ? begin(key, { ends: 0, left: 0, taken: 0 }) : undefined;
  }

  /** A place is given to nobody else before its time is over: its count would begin anew. */
  function makeRoom(): boolean {
    const now = Date.now();
    for (const [oldest, { ends }] of places) {
      if (ends > now) break;
      places.delete(oldest);
    }
    return places.size < maxKeys;
  }

  /** The time of a place begins. */
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
      // The limiter counts at once, and only says so later.
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
      // Each key has a timer.
      for (const key of [...places.keys(), OTHERS]) void limiter?.delete(key);
      places.clear();
    },
  };
}
