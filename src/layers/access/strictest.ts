/** Picks the strictest of several decisions about one resource, whatever their order. */
import type { AccessDecision } from '../../core/access.ts';
import { STRICTNESS } from '../../core/decided.ts';

type Decision = AccessDecision | Promise<AccessDecision>;

/**
 * @param sure decisions under names that all have to be allowed; among equally strict ones, the first counts
 * @param possible decisions under names that the resource may have; the policy's default does not count here
 */
export function strictest(sure: readonly [Decision, ...Decision[]], possible: readonly Decision[]): Decision {
  const all = [...sure, ...possible];
  const pick = (decisions: readonly AccessDecision[]): AccessDecision => {
    const [first, ...others] = decisions.filter(
      (decision, index) => index < sure.length || decision.byDefault !== true,
    );
    return others.reduce<AccessDecision>(stricter, first as AccessDecision);
  };
  return all.some((decision) => decision instanceof Promise)
    ? Promise.all(all).then(pick)
    : pick(all as readonly AccessDecision[]);
}

const stricter = (a: AccessDecision, b: AccessDecision): AccessDecision =>
  STRICTNESS.indexOf(b.effect) < STRICTNESS.indexOf(a.effect) ? b : a;
