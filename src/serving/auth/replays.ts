/** Proofs that have been used (RFC 9449 11.1), each remembered for as long as it could be used again. */
import { createHash } from 'node:crypto';

export interface ReplayOptions {
  /** How long a proof can be used, in milliseconds. */
  readonly windowMs: number;
  /** Proofs that are remembered of one window. Default: 100,000. */
  readonly max?: number | undefined;
  /** Of these, by one key. Default: 25,000. */
  readonly maxPerKey?: number | undefined;
}

/** `full`: it cannot be remembered, and so may not be used, or it could be used twice. */
export type Use = 'first' | 'again' | 'full';

/** One window: what was used in it, and how much by which key. */
interface Window {
  readonly used: Set<string>;
  readonly byKey: Map<string, number>;
}

const emptyWindow = (): Window => ({ used: new Set(), byKey: new Map() });

/** @returns a function that says of each use of a proof, by its key and its `jti`, whether it is the first one */
export function createReplays({ windowMs, max = 100_000, maxPerKey = 25_000 }: ReplayOptions) {
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

  return (key: string, id: string): Use => {
    turn(Date.now());
    const proof = createHash('sha256').update(`${key} ${id}`).digest('base64');
    if (current.used.has(proof) || former.used.has(proof)) return 'again';
    const ofKey = current.byKey.get(key) ?? 0;
    if (current.used.size >= max || ofKey >= maxPerKey) return 'full';
    current.used.add(proof);
    current.byKey.set(key, ofKey + 1);
    return 'first';
  };
}
