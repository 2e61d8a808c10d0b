/** The access layer decides who may do what, in one place for every frontend (SEC-RES-2, SEC-TOOL-2, SEC-PROMPT-2). */
import type { AccessOutline, AccessPolicy } from '../../core/access.ts';
import { createContext, type Principal } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { Layer } from '../../core/layer.ts';
import type { Resolver } from '../../core/mounts/resolver.ts';
import { createDecisions, type DecisionRequest } from './decisions.ts';
import { type Explained, explainDecision } from './explain.ts';
import { accessLayer } from './layer.ts';
import { type AccessRules, rulesPolicy } from './rules/index.ts';

export { createDecisions } from './decisions.ts';
export { type Explained, explainDecision, principalCalled, questionsAbout } from './explain.ts';
export type { AccessRule, AccessRules, ArgumentValue, RulesPolicy, Who } from './rules/index.ts';
export { problemOf, rulesPolicy } from './rules/index.ts';

/**
 * Adds a rule that asks a human before these URIs are read. Undefined if there are neither rules nor such URIs.
 * @throws ResourceError `invalid` if there are such URIs and `access` is a policy, to which no rule can be added
 */
export function withConfirmed(
  access: AccessOptions | undefined,
  confirm: readonly string[] = [],
): AccessOptions | undefined {
  if (confirm.length === 0) return access;
  const asking = { name: 'confirm', effect: 'ask', operations: ['read'], uris: confirm } as const;
  if (access === undefined) return { rules: [asking], default: 'allow' };
  if ('decide' in access)
    throw invalid('confirm needs access rules; with an access policy, let the policy give the effect "ask" instead');
  return { ...access, rules: [...access.rules, asking] };
}

/** Rules, or a policy that decides. */
export type AccessOptions = AccessRules | AccessPolicy;

export interface Access {
  readonly policy: AccessPolicy;
  readonly layer: Layer;
  readonly outline: AccessOutline;
  /** Says whether the principal may do what is requested, and which rule decides. */
  explain(request: DecisionRequest, principal: Principal): Promise<Explained>;
  close(): Promise<void>;
}

/**
 * @throws ResourceError `invalid` for a rule that can never do what it says
 */
export function createAccess(options: AccessOptions, resolver?: Resolver): Access {
  const policy = 'decide' in options ? options : rulesPolicy(options);
  const decisions = createDecisions(policy, resolver);
  return {
    policy,
    layer: accessLayer(decisions),
    explain: (request, principal) => explainDecision(policy, decisions, request, principal),
    outline: {
      could: (principal, area) => policy.could?.(principal, area) !== false,
      scopesFor:
        policy.scopes === false
          ? undefined
          : async ({ principal, ...request }) => (await decisions.decide(request, createContext({ principal }))).scopes,
      kindOf: decisions.kindOf,
      // A search does not find a resource that a human has to allow first.
      mayRead: async (uri, ctx) => (await decisions.decide(decisions.unseen('read', uri), ctx)).effect === 'allow',
      operators: policy.operators,
      everything: (principal) => policy.everything?.(principal) === true,
    },
    close: async () => policy.close?.(),
  };
}
