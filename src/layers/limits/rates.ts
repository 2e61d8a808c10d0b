/** How many requests may come in a time: by principal, client, method and tool (SEC-TOOL-2, SEC-UTIL-4, SEC-UTIL-5). */
import type { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type AskedFor, overLimit } from '../../core/admission.ts';
import { ANONYMOUS, type Principal } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';

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

/** What a rate may look like. */
export const RATE = /^(?:off|([1-9]\d{0,8})\/(s|min|h))$/;

const SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3_600 };

export interface Rates {
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

  return {
    take({ method, name }, principal) {
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
      return due === undefined ? NOTHING_DUE : takeAll(due);
    },
    close() {
      for (const each of [principals, anonymous, clients, ...methods.values(), ...tools.values()]) each?.close();
    },
  };
}

/** What has to be counted, and as whose. */
interface Due {
  readonly counter: Counter;
  readonly key: string;
  readonly next: Due | undefined;
}

/** One after the other: what is refused by one is not counted by those behind it. */
async function takeAll(first: Due): Promise<void> {
  for (let due: Due | undefined = first; due !== undefined; due = due.next) {
    const { counter, key } = due;
    const limiter = counter.limiter ?? (await counter.load());
    const place = counter.placeOf(key);
    let taken: RateLimiterRes;
    try {
      taken = await limiter.consume(place);
    } catch (full) {
      throw counter.refusal(full as RateLimiterRes);
    }
    if (taken.isFirstInDuration) counter.begun(place);
  }
}

const NOTHING_DUE = Promise.resolve();

/** The parts of one step that has to be quick: each request goes through it, once for each of its limits. */
interface Counter {
  /** Undefined until it is loaded. */
  readonly limiter: RateLimiterMemory | undefined;
  load(): Promise<RateLimiterMemory>;
  /** Under which key it counts. */
  placeOf(key: string): string;
  /** The time of a place has begun. */
  begun(place: string): void;
  /** `limited` */
  refusal(full: RateLimiterRes): Error;
  close(): void;
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
  /** When the time of each is over. All times are equally long, so the first of them ends first. */
  const ends = new Map<string, number>();

  /** A count of its own where there is room; whoever has one keeps it. */
  function placeOf(key: string): string {
    if (ends.has(key)) return key;
    if (ends.size >= maxKeys && !makeRoom()) return OTHERS;
    begun(key);
    return key;
  }

  /** A place is given to nobody else before its time is over: its count would begin anew. */
  function makeRoom(): boolean {
    const now = Date.now();
    for (const [oldest, end] of ends) {
      if (end > now) break;
      ends.delete(oldest);
    }
    return ends.size < maxKeys;
  }

  function begun(place: string): void {
    if (place === OTHERS) return;
    ends.delete(place);
    ends.set(place, Date.now() + duration * 1_000);
  }

  return {
    get limiter() {
      return limiter;
    },
    load,
    placeOf,
    begun,
    refusal: ({ msBeforeNext }) =>
      overLimit(`Too many requests: there may be ${rate} (limits.${name})`, name, msBeforeNext),
    close() {
      // Each key has a timer.
      for (const key of [...ends.keys(), OTHERS]) void limiter?.delete(key);
      ends.clear();
    },
  };
}
