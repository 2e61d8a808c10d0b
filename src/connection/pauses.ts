/** Pauses between attempts, which grow with each failure. */

/** In milliseconds; half of each pause is random, so that clients do not return all at once. */
export interface PauseRange {
  readonly firstMs: number;
  readonly longestMs: number;
}

export interface Pauses {
  /** Failures since the last success. */
  readonly failures: number;
  /** The milliseconds left before the next attempt; 0 where it may start. */
  readonly leftMs: number;
  /** Counts a failure, and makes the next attempt wait longer. */
  grow(): void;
  /** Counts a failure, without a pause after it. */
  skip(): void;
  /** Resets the count of failures. */
  reset(): void;
}

export function createPauses({ firstMs, longestMs }: PauseRange): Pauses {
  let failures = 0;
  let nextAt = 0;
  return {
    get failures() {
      return failures;
    },
    get leftMs() {
      return Math.max(0, nextAt - Date.now());
    },
    grow() {
      const longest = Math.min(longestMs, firstMs * 2 ** failures);
      failures++;
      nextAt = Date.now() + longest / 2 + (Math.random() * longest) / 2;
    },
    skip() {
      failures++;
      nextAt = Date.now();
    },
    reset() {
      failures = 0;
    },
  };
}

/** Pauses after a server's refusal over a lasting connection, in milliseconds: each is twice the last, up to a limit. */
export const REFUSED = { firstMs: 1_000, longer: (pauseMs: number): number => Math.min(pauseMs * 2, 60_000) } as const;
