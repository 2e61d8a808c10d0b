/** Says what somebody may do with something, and by which rule: for `vitrine explain` and for those who run the server. */
import type { AccessDecision, AccessPolicy } from '../../core/access.ts';
import { ANONYMOUS, createContext, type Principal, SILENT } from '../../core/context.ts';
import type { AccessEffect, AccessOperation } from '../../core/decided.ts';
import type { Asked, Decisions } from './decisions.ts';
import type { RulesPolicy } from './rules/index.ts';

export interface Explained {
  readonly operation: AccessOperation;
  readonly effect: AccessEffect;
  readonly rule: string;
  /** Scopes with which a token would be let through, where that is all that is missing. */
  readonly scopes?: readonly string[] | undefined;
  /** Rules that match as well, and do not decide. */
  readonly also: readonly { readonly effect: AccessEffect; readonly rule: string }[];
}

export async function explainDecision(
  policy: AccessPolicy,
  decisions: Decisions,
  asked: Asked,
  principal: Principal,
): Promise<Explained> {
  const { effect, rule, scopes } = await decisions.decide(asked, createContext({ principal, log: SILENT }));
  const matching: readonly AccessDecision[] =
    'matching' in policy ? (policy as RulesPolicy).matching({ ...asked, principal }) : [];
  return {
    operation: asked.operation,
    effect,
    rule,
    ...(scopes !== undefined && { scopes }),
    also: matching.slice(1).map((other) => ({ effect: other.effect, rule: other.rule })),
  };
}

const OF_RESOURCES: readonly AccessOperation[] = ['list', 'read', 'metadata', 'subscribe'];
const OF_TEMPLATES: readonly AccessOperation[] = ['list', 'complete'];

/** The questions about a URI or URI template: one for each operation that it has. */
export function questionsAbout(uri: string): readonly Asked[] {
  const template = uri.includes('{');
  return (template ? OF_TEMPLATES : OF_RESOURCES).map((operation) => ({
    operation,
    uri,
    ...(template && { template }),
  }));
}

/** Somebody as a token would describe it. */
export interface Called {
  /** As its issuer calls it; `anonymous` for somebody without a token. */
  readonly subject: string;
  readonly issuer?: string | undefined;
  readonly client?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
}

export function principalCalled({ subject, issuer, client, groups = [], scopes = [] }: Called): Principal {
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
