/** Says what a principal may do, and which rule decides: for `vitrine explain` and for those who run the server. */
import type { AccessDecision, AccessPolicy } from '../../core/access.ts';
import { ANONYMOUS, createContext, type Principal, SILENT } from '../../core/context.ts';
import type { AccessEffect, AccessOperation } from '../../core/decided.ts';
import type { DecisionRequest, Decisions } from './decisions.ts';
import type { RulesPolicy } from './rules/index.ts';

/** A decision with its reasons. */
export interface Explained {
  readonly operation: AccessOperation;
  readonly effect: AccessEffect;
  readonly rule: string;
  /** The scopes that a token lacks, if it lacks nothing else. */
  readonly scopes?: readonly string[] | undefined;
  /** Rules that match, too, but do not decide. */
  readonly also: readonly { readonly effect: AccessEffect; readonly rule: string }[];
}

export async function explainDecision(
  policy: AccessPolicy,
  decisions: Decisions,
  request: DecisionRequest,
  principal: Principal,
): Promise<Explained> {
  const decision = await decisions.decide(request, createContext({ principal, log: SILENT }));
  const { effect, rule, scopes } = decision;
  const matching: readonly AccessDecision[] =
    'matching' in policy ? (policy as RulesPolicy).matching({ ...request, principal }) : [];
  return {
    operation: request.operation,
    effect,
    rule,
    ...(scopes !== undefined && { scopes }),
    // Another name of the resource may have decided, so the first rule that matches this one need not be the decision.
    also: matching
      .filter((other) => other !== decision && other.byDefault !== true)
      .map((other) => ({ effect: other.effect, rule: other.rule })),
  };
}

const OF_RESOURCES: readonly AccessOperation[] = ['list', 'read', 'metadata', 'subscribe'];
const OF_TEMPLATES: readonly AccessOperation[] = ['list', 'complete'];

/** The requests to decide about a URI or URI template: one for each operation that it has. */
export function questionsAbout(uri: string): readonly DecisionRequest[] {
  const template = uri.includes('{');
  return (template ? OF_TEMPLATES : OF_RESOURCES).map((operation) => ({
    operation,
    uri,
    ...(template && { template }),
  }));
}

/** A caller, as a token would describe it. */
export interface CallerFacts {
  /** The name that its issuer gives it; `anonymous` for a caller without a token. */
  readonly subject: string;
  readonly issuer?: string | undefined;
  readonly client?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
}

export function principalCalled({ subject, issuer, client, groups = [], scopes = [] }: CallerFacts): Principal {
  if (subject === ANONYMOUS.id) return ANONYMOUS;
  return {
    id: `${issuer ?? ''}#${subject}`,
    subject,
    ...(issuer !== undefined && { issuer }),
    ...(client !== undefined && { clientId: client }),
    groups: [...groups],
    scopes: [...scopes],
  };
}
