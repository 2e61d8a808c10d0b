/** Notices messages that this replica should have heard: each sender counts its own, and says so when it may have spoken to nobody. */
import { createLru } from '../../core/lru.ts';

/** Senders whose count is kept. Of another one, a greeting counts as a message that was missed. */
const MAX_SENDERS = 1_000;

export interface Missed {
  /** This replica hears from now on; all that was said before counts as missed already. */
  begin(): void;
  /** @returns whether something before the message is missing */
  message(sender: string, count: number): boolean;
  /**
   * A sender greets when it speaks over a new connection: over the one before, nobody may have heard it.
   * @param agoMs since it last said something, in milliseconds
   * @returns whether something before the greeting is missing
   */
  greeting(sender: string, count: number, agoMs: number): boolean;
}

export function createMissed(now: () => number = () => performance.now()): Missed {
  const heard = createLru<string, { readonly count: number }>(MAX_SENDERS);
  let begun = now();
  function note(sender: string, count: number): number | undefined {
    const before = heard.get(sender)?.count;
    // A message that timed out at its sender may have come after all, and has the same count then.
    heard.set(sender, { count: Math.max(count, before ?? 0) });
    return before;
  }
  return {
    begin() {
      heard.clear();
      begun = now();
    },
    message(sender, count) {
      const before = note(sender, count);
      return before !== undefined && count > before + 1;
    },
    greeting(sender, count, agoMs) {
      const before = note(sender, count);
      return before === undefined ? now() - agoMs > begun : count > before + 1;
    },
  };
}
