/**
 * The limits layer: how often, how many at a time, and how much in memory. The layer bounds the memory of all reads
 * together; the admission bounds what is asked for, and stands where requests come in: one request may be many
 * operations of a provider, and counts once.
 */
import type { Admission, AskedFor } from '../../core/admission.ts';
import type { Context, Principal } from '../../core/context.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import type { EngineOperations } from '../../core/operations.ts';
import { createAdmission } from './admission.ts';
import { type Budget, createBudget } from './budget.ts';
import { createRates, type RateOptions } from './rates.ts';
import { heldBodies } from './read.ts';

export interface UsageLimits {
  /** How many requests may come in a time. */
  readonly rates?: RateOptions | undefined;
  /** Requests that run at a time. */
  readonly maxConcurrent?: number | undefined;
  readonly maxConcurrentPerPrincipal?: number | undefined;
  /** Bytes of contents and answers that are in memory at a time. */
  readonly maxHeldBytes?: number | undefined;
  /** Subscriptions to resources at a time. */
  readonly maxSubscriptions?: number | undefined;
  readonly maxSubscriptionsPerPrincipal?: number | undefined;
  /** 2025-era HTTP sessions; their total is a limit of the endpoint. */
  readonly maxSessionsPerPrincipal?: number | undefined;
  /** Listen streams over HTTP; their total is a limit of the endpoint. */
  readonly maxStreamsPerPrincipal?: number | undefined;
  /**
   * Anonymous callers count as one principal, as where others have to say who they are. Default: `false`; where all are
   * anonymous, what holds for one principal would let one of them take it from all others, so only totals count.
   */
  readonly anonymousIsOne?: boolean | undefined;
}

export const DEFAULT_USAGE = {
  maxConcurrent: 1_000,
  maxConcurrentPerPrincipal: 250,
  maxHeldBytes: 64 * 1024 * 1024,
  maxSubscriptions: 100_000,
  maxSubscriptionsPerPrincipal: 5_000,
  maxSessionsPerPrincipal: 100,
  maxStreamsPerPrincipal: 100,
} as const;

export interface Limits {
  readonly layer: Layer;
  readonly admission: Admission;
  close(): void;
}

/** @param onRefused is told of each request that was refused before anything had run */
export function createLimits(
  options: UsageLimits = {},
  onRefused: (asked: AskedFor, ctx: Context, error: unknown) => void = () => {},
): Limits {
  const { anonymousIsOne = false } = options;
  const max = { ...DEFAULT_USAGE, ...withoutUndefined(options) };
  const rates = createRates(options.rates, anonymousIsOne);
  const budget = createBudget({ maxBytes: max.maxHeldBytes });
  const admission = createAdmission({ max, rates, budget, anonymousIsOne, onRefused });
  return {
    layer: limitsLayer(budget, (principal) => admission.hold('subscriptions', principal)),
    admission,
    close: () => rates.close(),
  };
}

/** Bounds the memory that the contents of all reads take together, and how many subscriptions to resources there are. */
export function limitsLayer(budget: Budget, holdSubscription: (principal: Principal) => () => void): Layer {
  return (inner) =>
    wrapProvider(inner, {
      async subscribe(to, onChange, ctx) {
        const subscribe = (): Promise<AsyncDisposable> => (inner as EngineOperations).subscribe(to, onChange, ctx);
        if ('list' in to) return subscribe();
        // Each one counts, whether or not it shares a watch (SEC-RES-4).
        const release = holdSubscription(ctx.principal);
        try {
          const handle = await subscribe();
          return {
            async [Symbol.asyncDispose]() {
              release();
              await handle[Symbol.asyncDispose]();
            },
          };
        } catch (error) {
          release();
          throw error;
        }
      },
      // Bodies that take a part of the budget are wrapped, and so are none that anybody knows.
      again: inner.again,
      read: async (uri, want, ctx) => heldBodies(await inner.read(uri, want, ctx), want, budget, ctx.signal),
    });
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const withoutUndefined = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Defined<T>;
