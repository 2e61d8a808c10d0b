/** Remembers the proofs that have been used, each for as long as somebody could use it again (RFC 9449 11.1). */
import { createHash } from 'node:crypto';

export interface ReplayOptions {
  /** How long a proof can be used, in milliseconds. This is the length of a window. */
  readonly windowMs: number;
  /** The most proofs of one window. Principals with fewer than `few` proofs may add as many again. Default: 100,000. */
  readonly max?: number | undefined;
  /** The most proofs of one principal in one window, with all its keys. Default: a quarter of `max`. */
  readonly maxEach?: number | undefined;
  /** A principal with fewer proofs than this is served even if others have used up `max`. Default: a hundredth of `max`. */
  readonly few?: number | undefined;
}

/** `full`: there is no room to remember the proof. It must not be accepted, because it could then be used twice. */
export type Use = 'first' | 'again' | 'full';

/** The proofs that were used in one window, and their number for each principal. */
interface Window {
  readonly used: Set<string>;
  readonly by: Map<string, number>;
  /** The latest time of a use, by the clock that proofs are checked with. It may be set back. */
  latest: number;
  /** The time of the last use, by a clock that is never set back. */
  lastUse: number;
}

const emptyWindow = (): Window => ({
  used: new Set(),
  by: new Map(),
  latest: Number.NEGATIVE_INFINITY,
  lastUse: Number.NEGATIVE_INFINITY,
});

/**
 * The most windows before the current one. One is enough while the clock is not set back. If they are not enough, the current window
 * goes on until one of them can be forgotten, and fills up.
 */
const MAX_FORMER = 3;

/**
 * Each proof is remembered until it is too old, also if the clock is set back meanwhile, or is ahead for a while. If the clock is set back
 * to a time at which a forgotten proof was valid, it can be used again.
 * @returns a function that notes the use of a proof and says whether it is the first one. `id` is the `jti` of the proof.
 */
export function createReplays({ windowMs, max = 100_000, maxEach = max / 4, few = max / 100 }: ReplayOptions) {
  let current = emptyWindow();
  let former: readonly Window[] = [];
  let began = { time: performance.now(), now: Date.now() };

  /** Begins a new window when the current one is over by one of the clocks, and forgets those whose proofs are too old by both. */
  function advance(): void {
    const time = performance.now();
    const now = Date.now();
    if (time - began.time < windowMs && now - began.now < windowMs) return;
    const kept = [current, ...former].filter(
      ({ latest, lastUse }) => latest + windowMs >= now || lastUse + windowMs >= time,
    );
    if (kept.length > MAX_FORMER) return;
    former = kept;
    current = emptyWindow();
    began = { time, now };
  }

  return (principal: string, key: string, id: string): Use => {
    advance();
    const proof = createHash('sha256').update(`${key} ${id}`).digest('base64');
    if (current.used.has(proof) || former.some(({ used }) => used.has(proof))) return 'again';
    const count = current.by.get(principal) ?? 0;
    if (count >= maxEach || current.used.size >= (count < few ? 2 * max : max)) return 'full';
    current.used.add(proof);
    current.by.set(principal, count + 1);
    current.latest = Math.max(current.latest, Date.now());
    current.lastUse = performance.now();
    return 'first';
  };
}
