/** Limits the rate of requests: by principal, client, method and tool (SEC-TOOL-2, SEC-UTIL-4, SEC-UTIL-5). */
import type { AskedFor } from '../../core/admission.ts';
import { ANONYMOUS, type Principal } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import { type Counter, createCounter, type Limit } from './counter.ts';
import { createSharedCounter, type SharedRates } from './shared-counter.ts';

/** A number of requests in a period, as in `600/min`; the period is `s`, `min` or `h`. `off` is no limit. */
export type Rate = string;

export interface RateOptions {
  /** Requests of one principal. Default: 6000/min. */
  readonly principal?: Rate | undefined;
  /** Requests of all anonymous callers together. Default: off; with `anonymousIsOne`, the rate of `principal`. */
  readonly anonymous?: Rate | undefined;
  /** Requests of one OAuth client, for all its principals together. Default: 60000/min. */
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

/** The most keys (principals or clients) that one limit counts separately; further keys share one count until a period ends. */
export const MAX_KEYS = 10_000;

/** Matches a rate, such as `600/min` or `off`. */
export const RATE = /^(?:off|([1-9]\d{0,8})\/(s|min|h))$/;

const SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3_600 };

export interface Rates {
  /**
   * Returns a function that counts the request, where the request is certainly within its rates. The caller calls this
   * function before anything else is counted, or never. Returns undefined where the caller has to use `take`, because
   * the request is the first of its period, or may be refused.
   */
  atOnce(asked: AskedFor, principal: Principal): (() => void) | undefined;
  /** @throws ResourceError `limited` */
  take(asked: AskedFor, principal: Principal): Promise<void>;
  /** Returns each rate with the principals or clients that have used most of it. */
  inUse(): readonly RateInUse[];
  close(): void;
}

/** A rate, and how much of it is used now. */
export interface RateInUse {
  /** Its key in the configuration, such as `rates.principal`. */
  readonly limit: string;
  /** The rate as the configuration has it. */
  readonly rate: string;
  /** How many principals or clients have made requests in their period. */
  readonly counted: number;
  /** The principals or clients with the least left, at most `MAX_SHOWN`. */
  readonly most: readonly {
    readonly key: string;
    /** At least this many more requests pass. */
    readonly left: number;
    /** When its period ends, ISO 8601. */
    readonly until: string;
  }[];
}

/** The most principals or clients that are shown of one rate. */
export const MAX_SHOWN = 20;

export interface RatesOptions {
  readonly rates?: RateOptions | undefined;
  /** Whether anonymous callers count as one principal. Default: `false`. */
  readonly anonymousIsOne?: boolean | undefined;
  /** Default: `MAX_KEYS`. */
  readonly maxKeys?: number | undefined;
  /** Counts in all replicas together. Default: each process counts by itself. */
  readonly shared?: SharedRates | undefined;
}

export function createRates({
  rates: options = {},
  anonymousIsOne = false,
  maxKeys = MAX_KEYS,
  shared,
}: RatesOptions = {}): Rates {
  const counterOf = (name: string, rate: Rate): Counter | undefined => {
    const limit = limitOf(name, rate);
    if (limit === undefined) return undefined;
    const alone = createCounter(limit, maxKeys);
    return shared === undefined ? alone : createSharedCounter(limit, alone, maxKeys, shared);
  };
  const countersOf = (name: string, rates: Readonly<Record<string, Rate>>): ReadonlyMap<string, Counter> =>
    new Map(
      Object.entries(rates).flatMap(([key, rate]): [string, Counter][] => {
        const counter = counterOf(`${name}.${key}`, rate);
        return counter === undefined ? [] : [[key, counter]];
      }),
    );
  const principalRate = options.principal ?? DEFAULT_RATES.principal;
  const principals = counterOf('rates.principal', principalRate);
  const anonymous = counterOf(
    'rates.anonymous',
    options.anonymous ?? (anonymousIsOne ? principalRate : DEFAULT_RATES.anonymous),
  );
  const clients = counterOf('rates.client', options.client ?? DEFAULT_RATES.client);
  const methods = countersOf('rates.methods', { ...DEFAULT_RATES.methods, ...options.methods });
  const tools = countersOf('rates.tools', options.tools ?? {});
  const counts = (principal: Principal, rated: boolean): boolean =>
    rated || anonymousIsOne || principal.id !== ANONYMOUS.id;

  function dueOf({ method, name }: AskedFor, principal: Principal): Due | undefined {
    const { id, clientId, issuer } = principal;
    // Builds the chain from its last counter on, since each link holds the next one.
    let due: Due | undefined;
    const ofTool = method === 'tools/call' && name !== undefined ? tools.get(name) : undefined;
    if (ofTool !== undefined) due = { counter: ofTool, key: id, next: due };
    const ofMethod = methods.get(method);
    // A method's default rate is for one principal. Anonymous callers share one id, so it is theirs only if they count as one.
    if (ofMethod !== undefined && counts(principal, options.methods?.[method] !== undefined))
      due = { counter: ofMethod, key: id, next: due };
    if (clients !== undefined && clientId !== undefined)
      due = { counter: clients, key: `${issuer ?? ''} ${clientId}`, next: due };
    const whole = id === ANONYMOUS.id ? anonymous : principals;
    if (whole !== undefined) due = { counter: whole, key: id, next: due };
    return due;
  }

  const all = (): readonly Counter[] =>
    [principals, anonymous, clients, ...methods.values(), ...tools.values()].filter((each) => each !== undefined);

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
    inUse: () => all().map(rateInUse),
    close() {
      for (const each of all()) each.close();
    },
  };
}

/** A counter, the key to count under, and the next counter for the same request. */
interface Due {
  readonly counter: Counter;
  readonly key: string;
  readonly next: Due | undefined;
}

function rateInUse({ limit: { name, rate }, inUse }: Counter): RateInUse {
  const used = [...inUse()].sort((a, b) => a.left - b.left);
  const most = used.slice(0, MAX_SHOWN).map(({ key, left, ends }) => ({
    key: key.trim(),
    left,
    until: new Date(ends).toISOString(),
  }));
  return { limit: name, rate, counted: used.length, most };
}

/** Takes from the counters in order. A counter that refuses stops the rest, which then do not count the request. */
async function takeAll(first: Due): Promise<void> {
  for (let due: Due | undefined = first; due !== undefined; due = due.next) await due.counter.take(due.key);
}

const NOTHING_DUE = Promise.resolve();

const ignore = (): void => {};

const NOTHING_TO_COUNT = ignore;

/** Returns undefined for `off`. @throws ResourceError `invalid` for a malformed rate */
function limitOf(name: string, rate: Rate): Limit | undefined {
  const found = RATE.exec(rate);
  if (found === null)
    throw invalid(`limits.${name}: ${JSON.stringify(rate)} is not a rate; write it as in 600/min, or off`);
  const [, count, unit = ''] = found;
  return count === undefined ? undefined : { name, rate, most: Number(count), seconds: SECONDS[unit] ?? 60 };
}
