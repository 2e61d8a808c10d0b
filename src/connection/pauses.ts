/** Pauses before another attempt that grow with each failure. */

/** In milliseconds; half of each is chance, so that many do not come back at once. */
export interface PauseRange {
  readonly firstMs: number;
  readonly longestMs: number;
}

export interface Pauses {
  /** Failures since the last success. */
  readonly failures: number;
  /** How long the next attempt has to wait, in milliseconds; 0 where it does not. */
  readonly leftMs: number;
  /** One more failure: the next attempt waits longer. */
  grow(): void;
  /** One more failure, after which there is nothing to wait for. */
  skip(): void;
  /** The next failure is the first one again. */
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

/** Of what a server refused over a connection that lasts, in milliseconds: the next pause is twice as long, up to a longest one. */
export const REFUSED = { firstMs: 1_000, longer: (pauseMs: number): number => Math.min(pauseMs * 2, 60_000) } as const;
