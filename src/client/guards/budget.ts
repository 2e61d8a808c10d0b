/** Limits requests, tokens and cost in a sliding window of time, and the number of requests at a time. */

/** The limits of a budget. */
export interface BudgetOptions {
  /** Requests in a window, failed and refused ones included; 10 by default. At most 10,000. */
  readonly requests?: number;
  /** The length of the window, in milliseconds; one minute by default. */
  readonly windowMs?: number;
  /** Requests at a time, including those that wait for a user; 2 by default. */
  readonly concurrent?: number;
  /** Tokens of prompts and answers in a window; 100,000 by default. */
  readonly tokens?: number;
  /** Cost in a window, in any unit; unlimited by default. */
  readonly cost?: number;
}

/** Tokens and cost of a request. */
export interface Use {
  readonly tokens: number;
  readonly cost: number;
}

/** The share of one request in the budget. */
export interface Reservation {
  /** The most tokens that the request may use: the rest of the window. */
  readonly tokensLeft: number;
  /** Reserves the most that the request will use. Returns false, and reserves nothing, if that is over the budget. */
  reserve(use: Use): boolean;
  /** Replaces the reserved use by the real one. */
  settle(use: Use): void;
  /** Ends the request. It still counts in the window. */
  end(): void;
}

/** A budget for the requests of one server. */
export interface Budget {
  /** Starts a request, or returns the reason why it may not start. */
  begin(): Reservation | 'too-many-at-once' | 'too-often' | 'tokens-used-up' | 'cost-used-up';
}

const MAX_REQUESTS = 10_000;

/** @param now a clock in milliseconds that never goes back */
export function createBudget(options: BudgetOptions = {}, now: () => number = () => performance.now()): Budget {
  const { windowMs = 60_000, concurrent = 2, tokens = 100_000, cost = Number.POSITIVE_INFINITY } = options;
  const requests = Math.min(options.requests ?? 10, MAX_REQUESTS);
  let spent: { readonly at: number; use: Use }[] = [];
  let running = 0;
  const sum = (field: keyof Use): number => spent.reduce((total, { use }) => total + use[field], 0);

  return {
    begin() {
      const since = now() - windowMs;
      spent = spent.filter(({ at }) => at > since);
      if (running >= concurrent) return 'too-many-at-once';
      if (spent.length >= requests) return 'too-often';
      if (sum('tokens') >= tokens) return 'tokens-used-up';
      if (sum('cost') >= cost) return 'cost-used-up';
      const entry = { at: now(), use: { tokens: 0, cost: 0 } };
      spent.push(entry);
      running++;
      let ended = false;
      return {
        get tokensLeft() {
          return Math.max(0, tokens - sum('tokens') + entry.use.tokens);
        },
        reserve(use) {
          const over =
            sum('tokens') - entry.use.tokens + use.tokens > tokens || sum('cost') - entry.use.cost + use.cost > cost;
          if (!over) entry.use = use;
          return !over;
        },
        settle(use) {
          entry.use = use;
        },
        end() {
          if (!ended) running--;
          ended = true;
        },
      };
    },
  };
}
