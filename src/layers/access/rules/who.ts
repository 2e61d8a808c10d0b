/** Decides whether a rule applies to a caller. */
import { ANONYMOUS, type Principal } from '../../../core/context.ts';
import type { AccessRule, Who } from './options.ts';

export interface WhoTest {
  matches(principal: Principal): boolean;
  /** The scopes that this principal still needs for the rule; undefined if it needs none, or if scopes would not be enough. */
  lacks(principal: Principal): readonly string[] | undefined;
  /** Whether the rule names scopes. */
  readonly scopes: boolean;
}

export function compileWho(who: AccessRule['who'] = 'anyone'): WhoTest {
  const wanted = whoOf(who);
  const { scopes = [] } = wanted;
  const others = (principal: Principal): boolean => matchesOthers(wanted, principal);
  const missing = ({ scopes: held = [] }: Principal): readonly string[] =>
    scopes.filter((scope) => !held.includes(scope));
  return {
    matches: (principal) => others(principal) && missing(principal).length === 0,
    lacks(principal) {
      const lacking = missing(principal);
      return lacking.length > 0 && others(principal) ? lacking : undefined;
    },
    scopes: scopes.length > 0,
  };
}

function whoOf(who: NonNullable<AccessRule['who']>): Who {
  switch (who) {
    case 'anyone':
      return {};
    case 'anonymous':
      return { authenticated: false };
    case 'authenticated':
      return { authenticated: true };
    default:
      return who;
  }
}

function matchesOthers({ authenticated, subjects, issuers, groups, clients }: Who, principal: Principal): boolean {
  const { id, subject, issuer, clientId, groups: own = [] } = principal;
  return (
    (authenticated === undefined || authenticated === (id !== ANONYMOUS.id)) &&
    isOneOf(subjects, subject) &&
    isOneOf(issuers, issuer) &&
    isOneOf(clients, clientId) &&
    (groups === undefined || own.some((group) => groups.includes(group)))
  );
}

const isOneOf = (wanted: readonly string[] | undefined, value: string | undefined): boolean =>
  wanted === undefined || (value !== undefined && wanted.includes(value));
