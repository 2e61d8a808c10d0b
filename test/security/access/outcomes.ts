/** Classifies an answer, and says which class a decision requires. */
import type { AccessDecision } from '../../../src/core/access.ts';
import type { Reply } from './asking.ts';

/**
 * The outcome of a request. `answered` and `failed` occur without rules, too; `challenged` is status 403, or 401 for a caller
 * without a token, if only scopes are missing.
 */
export type Outcome = 'answered' | 'denied' | 'asked' | 'missing' | 'challenged' | `failed: ${string}`;

export function outcomeOf(reply: Reply): Outcome {
  if (reply.status === 403 || reply.status === 401) return 'challenged';
  if (reply.error !== undefined) {
    const { message, data } = reply.error;
    return ofMessage(message) ?? (data?.reason === 'not-found' ? 'missing' : `failed: ${data?.reason}`);
  }
  if (reply.result?.isError !== true) return 'answered';
  const [block] = reply.result.content as readonly { readonly text?: string }[];
  return ofMessage(block?.text ?? '') ?? 'failed: tool';
}

function ofMessage(message: string): Outcome | undefined {
  if (message.includes('only after a human has confirmed')) return 'asked';
  if (/^Access to .* is denied/.test(message)) return 'denied';
  return /^(Resource not found|There is no (tool|prompt) named)/.test(message) ? 'missing' : undefined;
}

/**
 * @param without the outcome without rules
 * @param beforehand the decision that is made before the resource is looked up; undefined if there is none
 */
export function expectedOf(without: Outcome, decision: AccessDecision, beforehand?: AccessDecision): Outcome {
  if (beforehand?.scopes !== undefined) return 'challenged';
  if (without === 'missing') return 'missing';
  switch (decision.effect) {
    case 'allow':
      return without;
    case 'ask':
      return 'asked';
    case 'deny':
      return 'denied';
    case 'hide':
      return 'missing';
  }
}
