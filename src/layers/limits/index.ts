/**
 * Limits how often requests come, how many run at a time, and how much memory they take. The layer bounds the memory of all
 * reads together, and the subscriptions. The admission bounds requests where they come in, because one request may become
 * many operations of a provider, but counts once.
 */
import type { Admission, AskedFor } from '../../core/admission.ts';
import type { Context, Principal } from '../../core/context.ts';
import { defined } from '../../core/defined.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import type { EngineOperations } from '../../core/operations.ts';
import { createAdmission, type QuotaInUse } from './admission.ts';
import { type Budget, createBudget } from './budget.ts';
import { createRates, type RateInUse, type RateOptions } from './rates.ts';
import { heldBodies } from './read.ts';
import type { SharedRates } from './shared-counter.ts';

export interface UsageLimits {
  /** How many requests may come in a period. */
  readonly rates?: RateOptions | undefined;
  /**
   * With a bus, rates are counted in all replicas together. While the bus is away, each replica counts by itself (`local`), or
   * requests that have a rate are refused (`refuse`). Default: `local`.
   */
  readonly without?: SharedRates['without'] | undefined;
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
   * Whether anonymous callers together count as one principal, as makes sense if other callers have tokens. Default: `false`: if
   * everyone is anonymous, one caller could use up a limit that all share, so only totals count.
   */
  readonly anonymousIsOne?: boolean | undefined;
}

export const DEFAULT_USAGE = {
  without: 'local',
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
  /** How much of the rates, and of the limits on what runs at a time, is used in this process. */
  inUse(): LimitsInUse;
  close(): void;
}

export interface LimitsInUse {
  readonly rates: readonly RateInUse[];
  /** Whether rates are counted in all replicas together. Then `left` is the part that this replica has. */
  readonly shared: boolean;
  readonly atATime: Readonly<Record<string, QuotaInUse>>;
}

/**
 * @param onRefused is called with each request that is refused before any of its operations begins
 * @param bus connects replicas that count rates together
 */
export function createLimits(
  options: UsageLimits = {},
  onRefused: (target: AskedFor, ctx: Context, error: unknown) => void = () => {},
  bus?: SharedRates['bus'],
): Limits {
  const { anonymousIsOne = false } = options;
  const max = { ...DEFAULT_USAGE, ...defined(options) };
  const shared = bus && { bus, without: options.without ?? DEFAULT_USAGE.without };
  const rates = createRates({ rates: options.rates, anonymousIsOne, shared });
  const budget = createBudget({ maxBytes: max.maxHeldBytes });
  const admission = createAdmission({ max, rates, budget, anonymousIsOne, onRefused });
  return {
    layer: limitsLayer(budget, (principal) => admission.hold('subscriptions', principal)),
    admission,
    inUse: () => ({
      rates: rates.inUse(),
      shared: bus !== undefined,
      atATime: admission.inUse(),
    }),
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
        // Each subscription counts, whether or not it shares a watch (SEC-RES-4).
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
      // Bodies that take a part of the budget are wrapped. The inner provider does not know these, and does not give them again.
      again: inner.again,
      read: async (uri, want, ctx) => heldBodies(await inner.read(uri, want, ctx), want, budget, ctx.signal),
    });
}
