/**
 * Notices when this replica has missed messages. Each sender numbers its messages, and sends a greeting when some of them may have
 * reached nobody.
 */
import { createLru } from '../../core/lru.ts';

/** The most senders whose last number is kept. */
const MAX_SENDERS = 1_000;

export interface Missed {
  /**
   * Called when this replica begins to hear. The caller counts everything before as missed, so earlier messages are not reported.
   */
  begin(): void;
  /** Notes a message. @returns whether a message before it is missing */
  message(sender: string, count: number): boolean;
  /**
   * Notes a greeting. A sender greets over each new connection, because its messages over the previous one may have reached
   * nobody.
   * @param agoMs the time since the sender's last message, in milliseconds
   * @returns whether a message before the greeting is missing, or may be, because the sender is not known
   */
  greeting(sender: string, count: number, agoMs: number): boolean;
}

export function createMissed(now: () => number = () => performance.now()): Missed {
  const heard = createLru<string, { readonly count: number }>(MAX_SENDERS);
  let begun = now();
  function note(sender: string, count: number): number | undefined {
    const before = heard.get(sender)?.count;
    // A message that timed out at its sender may have arrived, and the sender gives the next message the same number.
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
