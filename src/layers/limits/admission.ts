/**
 * Limits the rate of requests, and the number of concurrent requests, subscriptions, sessions and streams, both in
 * total and per principal, so that no principal uses up the capacity of the others.
 */
import { type Admission, type AskedFor, type Lasting, overLimit } from '../../core/admission.ts';
import { ANONYMOUS, type Context, type Principal } from '../../core/context.ts';
import type { Budget } from './budget.ts';
import type { Rates } from './rates.ts';

/** Limits of concurrency. */
export interface Counts {
  readonly maxConcurrent: number;
  readonly maxConcurrentPerPrincipal: number;
  readonly maxSubscriptions: number;
  readonly maxSubscriptionsPerPrincipal: number;
  readonly maxSessionsPerPrincipal: number;
  readonly maxStreamsPerPrincipal: number;
}

export interface AdmissionOptions {
  readonly max: Counts;
  readonly rates: Rates;
  readonly budget: Budget;
  readonly anonymousIsOne: boolean;
  /** Called with each request that was refused before it began. */
  readonly onRefused: (asked: AskedFor, ctx: Context, error: unknown) => void;
}

/** How much of a quota is used now. */
export interface QuotaInUse {
  readonly now: number;
  /** The most in total; undefined where something else limits it. */
  readonly most?: number | undefined;
  readonly mostOfOnePrincipal: number;
}

/** An admission that reports its use to the server's operator. */
export interface ToldAdmission extends Admission {
  /** The use of running requests, subscriptions, sessions and streams. */
  inUse(): Readonly<Record<'requests' | Lasting, QuotaInUse>>;
}

export function createAdmission({ max, rates, budget, anonymousIsOne, onRefused }: AdmissionOptions): ToldAdmission {
  const running = createQuota({
    what: 'requests',
    total: { name: 'maxConcurrent', max: max.maxConcurrent },
    perPrincipal: { name: 'maxConcurrentPerPrincipal', max: max.maxConcurrentPerPrincipal },
    retryAfterMs: 1_000,
    anonymousIsOne,
  });
  const lasting: Readonly<Record<Lasting, Quota>> = {
    subscriptions: createQuota({
      what: 'subscriptions',
      total: { name: 'maxSubscriptions', max: max.maxSubscriptions },
      perPrincipal: { name: 'maxSubscriptionsPerPrincipal', max: max.maxSubscriptionsPerPrincipal },
      retryAfterMs: 60_000,
      anonymousIsOne,
    }),
    sessions: createQuota({
      what: 'sessions',
      perPrincipal: { name: 'maxSessionsPerPrincipal', max: max.maxSessionsPerPrincipal },
      retryAfterMs: 60_000,
      anonymousIsOne,
    }),
    streams: createQuota({
      what: 'streams',
      perPrincipal: { name: 'maxStreamsPerPrincipal', max: max.maxStreamsPerPrincipal },
      retryAfterMs: 60_000,
      anonymousIsOne,
    }),
  };

  return {
    async run(asked, ctx, work, counted = false) {
      let release: () => void;
      try {
        if (!counted) await rates.take(asked, ctx.principal);
        release = running.hold(ctx.principal);
      } catch (error) {
        onRefused(asked, ctx, error);
        throw error;
      }
      try {
        return await work();
      } finally {
        release();
      }
    },
    atOnce: (asked, principal) => (running.hasRoom(principal) ? rates.atOnce(asked, principal) : undefined),
    count: (asked, principal) => rates.take(asked, principal),
    hold: (what, principal) => lasting[what].hold(principal),
    answer: (bytes) => budget.take(bytes),
    inUse: () => ({
      requests: running.inUse(),
      subscriptions: lasting.subscriptions.inUse(),
      sessions: lasting.sessions.inUse(),
      streams: lasting.streams.inUse(),
    }),
  };
}

interface QuotaOptions {
  /** The name of the things that are counted, in the plural, for the error. */
  readonly what: string;
  /** The name and value of the total limit; undefined where something else limits it. */
  readonly total?: { readonly name: string; readonly max: number } | undefined;
  readonly perPrincipal: { readonly name: string; readonly max: number };
  /** When the client should try again, in milliseconds. */
  readonly retryAfterMs: number;
  /** Whether all anonymous callers count as one principal. */
  readonly anonymousIsOne: boolean;
}

interface Quota {
  /**
   * Takes one place. The returned function gives it back, once.
   * @throws ResourceError `limited`
   */
  hold(principal: Principal): () => void;
  /** Whether a place is free. */
  hasRoom(principal: Principal): boolean;
  inUse(): QuotaInUse;
}

function createQuota({ what, total, perPrincipal, retryAfterMs, anonymousIsOne }: QuotaOptions): Quota {
  const held = new Map<string, number>();
  let size = 0;
  const refused = (whose: string, { name, max }: { readonly name: string; readonly max: number }): Error =>
    overLimit(`Too many ${what}${whose}: there may be ${max} at a time (limits.${name})`, name, retryAfterMs);
  const isFull = (): boolean => total !== undefined && size >= total.max;
  const hasEnough = ({ id }: Principal): boolean =>
    (anonymousIsOne || id !== ANONYMOUS.id) && (held.get(id) ?? 0) >= perPrincipal.max;
  return {
    inUse: () => ({ now: size, most: total?.max, mostOfOnePrincipal: perPrincipal.max }),
    hasRoom: (principal) => !isFull() && !hasEnough(principal),
    hold(principal) {
      const { id } = principal;
      if (total !== undefined && isFull()) throw refused('', total);
      if (hasEnough(principal)) throw refused(' of one principal', perPrincipal);
      const own = held.get(id) ?? 0;
      size++;
      held.set(id, own + 1);
      let released = false;
      return () => {
        if (released) return;
        released = true;
        size--;
        const left = (held.get(id) ?? 1) - 1;
        if (left === 0) held.delete(id);
        else held.set(id, left);
      };
    },
  };
}
