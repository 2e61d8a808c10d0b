/** How much may be asked for in a span of time: a sliding window over requests, tokens and cost, and what is under way. */

export interface BudgetOptions {
  /** Requests in a window, whatever became of them; 10 by default. At most 10,000. */
  readonly requests?: number;
  /** The length of the window, in milliseconds; one minute by default. */
  readonly windowMs?: number;
  /** Requests under way at a time, those that wait for a user among them; 2 by default. */
  readonly concurrent?: number;
  /** Tokens in a window, of prompts and answers; 100,000 by default. */
  readonly tokens?: number;
  /** Cost in a window, in any unit; unlimited by default. */
  readonly cost?: number;
}

export interface Use {
  readonly tokens: number;
  readonly cost: number;
}

export interface Reservation {
  /** Tokens that it may still take, at most: the rest of the window. */
  readonly tokensLeft: number;
  /** Counts what it will take at most, before it is taken. False where that is over the budget. */
  reserve(use: Use): boolean;
  /** Puts what it took in the place of what was reserved. */
  settle(use: Use): void;
  /** It is not under way any more. It goes on to count in the window. */
  end(): void;
}

export interface Budget {
  /** Starts a request; a word for what is used up where it cannot. */
  begin(): Reservation | 'too-many-at-once' | 'too-often' | 'tokens-used-up' | 'cost-used-up';
}

const MOST_REQUESTS = 10_000;

/** @param now milliseconds that only grow */
export function createBudget(options: BudgetOptions = {}, now: () => number = () => performance.now()): Budget {
  const { windowMs = 60_000, concurrent = 2, tokens = 100_000, cost = Number.POSITIVE_INFINITY } = options;
  const requests = Math.min(options.requests ?? 10, MOST_REQUESTS);
  let spent: { readonly at: number; use: Use }[] = [];
  let underWay = 0;
  const sum = (field: keyof Use): number => spent.reduce((total, { use }) => total + use[field], 0);

  return {
    begin() {
      const since = now() - windowMs;
      spent = spent.filter(({ at }) => at > since);
      if (underWay >= concurrent) return 'too-many-at-once';
      if (spent.length >= requests) return 'too-often';
      if (sum('tokens') >= tokens) return 'tokens-used-up';
      if (sum('cost') >= cost) return 'cost-used-up';
      const entry = { at: now(), use: { tokens: 0, cost: 0 } };
      spent.push(entry);
      underWay++;
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
          if (!ended) underWay--;
          ended = true;
        },
      };
    },
  };
}
