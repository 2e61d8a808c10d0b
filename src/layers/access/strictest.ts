/** Picks the decision that counts of several about one thing: the strictest, whatever their order. */
import type { AccessDecision } from '../../core/access.ts';
import { STRICTNESS } from '../../core/decided.ts';

type Decision = AccessDecision | Promise<AccessDecision>;

/**
 * @param sure under names of which each has to be allowed; the first one counts among equals
 * @param possible under names that forbid where something is about them, and allow nothing
 */
export function strictest(sure: readonly [Decision, ...Decision[]], possible: readonly Decision[]): Decision {
  const all = [...sure, ...possible];
  const pick = (decisions: readonly AccessDecision[]): AccessDecision => {
    const [first, ...others] = decisions.filter((each, index) => index < sure.length || each.byDefault !== true);
    return others.reduce<AccessDecision>(stricter, first as AccessDecision);
  };
  return all.some((each) => each instanceof Promise)
    ? Promise.all(all).then(pick)
    : pick(all as readonly AccessDecision[]);
}

const stricter = (a: AccessDecision, b: AccessDecision): AccessDecision =>
  STRICTNESS.indexOf(b.effect) < STRICTNESS.indexOf(a.effect) ? b : a;
