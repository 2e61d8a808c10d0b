/** Proofs that have been used (RFC 9449 11.1), each remembered for as long as it could be used again. */
import { createHash } from 'node:crypto';

export interface ReplayOptions {
  /** How long a proof can be used, in milliseconds. */
  readonly windowMs: number;
  /** Proofs that are remembered of one window, and as many again of those who have used few. Default: 100,000. */
  readonly max?: number | undefined;
  /** Of these, by one principal, with all its keys. Default: a quarter. */
  readonly maxEach?: number | undefined;
  /** So many of each principal are remembered also where others have used up the rest. Default: a hundredth. */
  readonly few?: number | undefined;
}

/** `full`: it cannot be remembered, and so may not be used, or it could be used twice. */
export type Use = 'first' | 'again' | 'full';

/** One window: what was used in it, and how much by whom. */
interface Window {
  readonly used: Set<string>;
  readonly by: Map<string, number>;
}

const emptyWindow = (): Window => ({ used: new Set(), by: new Map() });

/**
 * @returns a function that says of each use of a proof, by the principal of its token, its key and its `jti`, whether it is
 *   the first one
 */
export function createReplays({ windowMs, max = 100_000, maxEach = max / 4, few = max / 100 }: ReplayOptions) {
  let current = emptyWindow();
  let former = emptyWindow();
  let began = Date.now();

  /** Two windows are kept, so that each proof is remembered for one at least; the older one is dropped as a whole. */
  function turn(now: number): void {
    const age = now - began;
    if (age >= 0 && age < windowMs) return;
    former = age >= 0 && age < 2 * windowMs ? current : emptyWindow();
    // A clock that was put back says nothing of what is over.
    if (age < 0) former = current;
    current = emptyWindow();
    began = now;
  }

  return (principal: string, key: string, id: string): Use => {
    turn(Date.now());
    const proof = createHash('sha256').update(`${key} ${id}`).digest('base64');
    if (current.used.has(proof) || former.used.has(proof)) return 'again';
    const own = current.by.get(principal) ?? 0;
    if (own >= maxEach || current.used.size >= (own < few ? 2 * max : max)) return 'full';
    current.used.add(proof);
    current.by.set(principal, own + 1);
    return 'first';
  };
}
