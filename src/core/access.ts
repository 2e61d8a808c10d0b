/**
 * Access decisions: one question, asked before every operation on a resource, tool or prompt (SEC-RES-2, SEC-TOOL-2,
 * SEC-PROMPT-2). The access layer asks it; an `AccessPolicy` answers.
 */

import type { Resource } from '../protocol/resources.ts';
import type { Context, Principal } from './context.ts';
import type { AccessEffect, AccessOperation } from './decided.ts';

export interface AccessRequest {
  readonly principal: Principal;
  readonly operation: AccessOperation;
  /** The published URI in its canonical form, or the URI template where `template` is set. */
  readonly uri?: string | undefined;
  readonly template?: boolean | undefined;
  /** The resource as far as it is known; undefined where nothing is known yet. */
  readonly resource?: Resource | undefined;
  /** The mount of the resource, tool or prompt; undefined for Vitrine's own tools and for prompts from files. */
  readonly mount?: string | undefined;
  /** The name of the tool or prompt, as clients know it. */
  readonly name?: string | undefined;
  /** The arguments of the call; undefined to ask whether any arguments could be allowed. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Whether the tool does nothing but access resources. The policy then decides about each of these, too. */
  readonly onlyResources?: boolean | undefined;
}

export interface AccessDecision {
  readonly effect: AccessEffect;
  /** The rule or other reason of the decision, for the audit and for `vitrine explain`. Never sent to a peer. */
  readonly rule: string;
  /** How long the answer to an `ask` is remembered, in milliseconds. Default: not at all. */
  readonly rememberMs?: number | undefined;
  /** Scopes with which the request would be allowed, where only these are missing. */
  readonly scopes?: readonly string[] | undefined;
  /** Whether no rule applied, so that this is the default. */
  readonly byDefault?: boolean | undefined;
}

/** All requests with this operation and in this mount. If one of the two is not set, it may be any. */
export interface AccessArea {
  readonly operation?: AccessOperation | undefined;
  readonly mount?: string | undefined;
}

/** Decides who operates the server. */
export interface Operators {
  /**
   * Whether the principal may see a document of Vitrine's own state. Only a rule about this document counts, not one
   * that allows everything. @param uri as it is published, without a query
   */
  may(principal: Principal, uri: string): boolean;
}

/** Decides about requests. Equal requests get equal decisions, whichever operation asks. */
export interface AccessPolicy {
  /** For the log. */
  readonly name: string;
  /** Whether decisions depend on `resource`, so that a resource must be described before a decision. */
  readonly attributes: boolean;
  /** Whether anything may be hidden: then another server's own text about missing resources is not passed on. Default: true. */
  readonly hides?: boolean | undefined;
  /** Whether decisions may name missing scopes, so that requests over HTTP are checked for them. Default: true. */
  readonly scopes?: boolean | undefined;
  /** @throws any error, which means that the request is not allowed; the log has the cause */
  decide(request: AccessRequest): AccessDecision | Promise<AccessDecision>;
  /** Whether anything in the area could be allowed or need confirmation. Default: true. */
  could?(principal: Principal, area: AccessArea): boolean;
  /** Whether anything in the area could be hidden. Default: true, unless `hides` is false. */
  couldHide?(principal: Principal, area: AccessArea): boolean;
  /** Whether anything in the area could be withheld. Default: true. */
  couldWithhold?(principal: Principal, area: AccessArea): boolean;
  /** Whether everything in lists is allowed, so that lists need no filter. Default: false. */
  everything?(principal: Principal): boolean;
  /**
   * Whether the principal may also list and subscribe to everything that `decide` allows it to read, so that reads need
   * not ask separately about these. Default: false.
   */
  readMeansAll?(principal: Principal): boolean;
  /**
   * Returns the same object as long as decisions for the principal about lists and subscriptions stay the same, and a
   * new one when they may change. Entries that are listed again then need no new decision. Default: undefined, unknown.
   */
  steady?(principal: Principal): object | undefined;
  /**
   * Returns the same text for all resources that get the same decisions, whoever asks, for the lifetime of the policy.
   * Undefined where decisions depend on more than the URI. Default: undefined.
   */
  kindOf?(uri: string, mount: string | undefined): string | undefined;
  /** Decides who operates the server, and so sees state about others, such as the audit. Default: nobody. */
  readonly operators?: Operators | undefined;
  /** Releases its resources. */
  close?(): Promise<void>;
}

/**
 * Returns the key under which results are shared between requests of one subject through one client with the same scopes and
 * groups. With other scopes or groups, the same subject has another key.
 */
export function principalKey({ id, scopes = [], groups = [], clientId = '' }: Principal): string {
  return JSON.stringify([id, clientId, [...scopes].sort(), [...groups].sort()]);
}

/** Answers questions about a caller's rights before the caller requests anything. */
export interface AccessOutline {
  /** Whether anything in the area could be used. */
  could(principal: Principal, area: AccessArea): boolean;
  /**
   * Returns the missing scopes, where only scopes keep a caller from something; undefined where it is allowed, or where
   * more is missing. Left out where nothing depends on scopes.
   */
  readonly scopesFor?: ((request: AccessRequest) => Promise<readonly string[] | undefined>) | undefined;
  /** Does the same as `kindOf` of the policy, for a URI together with all its other spellings and names. */
  kindOf(uri: string): string | undefined;
  /** Whether the caller may read a URI, as far as the URI decides it. The check is neither logged nor audited. */
  mayRead(uri: string, ctx: Context): Promise<boolean>;
  /** As `operators` of the policy; undefined where there are none. */
  readonly operators: Operators | undefined;
  /** Whether everything in lists is allowed for the principal. */
  everything(principal: Principal): boolean;
}
