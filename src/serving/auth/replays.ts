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
}

const emptyWindow = (): Window => ({ used: new Set(), by: new Map() });

/** @returns a function that notes the use of a proof and says whether it is the first one. `id` is the `jti` of the proof. */
export function createReplays({ windowMs, max = 100_000, maxEach = max / 4, few = max / 100 }: ReplayOptions) {
  let current = emptyWindow();
  let former = emptyWindow();
  let began = Date.now();

  /** Begins a new window when the current one is over. The last two windows are kept, so each proof is remembered long enough. */
  function advance(now: number): void {
    const age = now - began;
    if (age >= 0 && age < windowMs) return;
    former = age >= 0 && age < 2 * windowMs ? current : emptyWindow();
    // If the clock was set back, nobody can tell which proofs are too old, so those of the current window are kept.
    if (age < 0) former = current;
    current = emptyWindow();
    began = now;
  }

  return (principal: string, key: string, id: string): Use => {
    advance(Date.now());
    const proof = createHash('sha256').update(`${key} ${id}`).digest('base64');
    if (current.used.has(proof) || former.used.has(proof)) return 'again';
    const count = current.by.get(principal) ?? 0;
    if (count >= maxEach || current.used.size >= (count < few ? 2 * max : max)) return 'full';
    current.used.add(proof);
    current.by.set(principal, count + 1);
    return 'first';
  };
}
