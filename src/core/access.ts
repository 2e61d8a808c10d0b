/**
 * Who may do what: one question, asked at every way to a resource, tool or prompt before anything happens (SEC-RES-2,
 * SEC-TOOL-2, SEC-PROMPT-2). The access layer asks it; an `AccessPolicy` answers.
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
  /** The mount that it belongs to; none for Vitrine's own tools and for prompts from files. */
  readonly mount?: string | undefined;
  /** Of the tool or prompt, as clients know it. */
  readonly name?: string | undefined;
  /** Of the call; undefined when the question is whether there are any with which it may be made. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** The tool does nothing but what is asked about again, resource by resource. */
  readonly onlyResources?: boolean | undefined;
}

export interface AccessDecision {
  readonly effect: AccessEffect;
  /** The rule or other cause that decided, for the audit and for `vitrine explain`. Never sent to a peer. */
  readonly rule: string;
  /** Of `ask`: how long a yes or no is remembered, in milliseconds. Default: not at all. */
  readonly rememberMs?: number | undefined;
  /** Scopes with which a token would be let through, where that is all that is missing. */
  readonly scopes?: readonly string[] | undefined;
  /** Nothing was about it: this is what happens then. */
  readonly byDefault?: boolean | undefined;
}

/** An operation and a mount in which something could be allowed: for what is declared before it is asked for. */
export interface AccessArea {
  readonly operation?: AccessOperation | undefined;
  readonly mount?: string | undefined;
}

/** Decides. The same question has the same answer, wherever it comes from. */
export interface AccessPolicy {
  /** For the log. */
  readonly name: string;
  /** Decisions look at `resource`: a resource is described before anything is decided. */
  readonly attributes: boolean;
  /** Something may be hidden: another server's own words for what is missing are not passed on. Default: it may. */
  readonly hides?: boolean | undefined;
  /** Decisions may tell of scopes that are missing: a request over HTTP is looked at for that. Default: they may. */
  readonly scopes?: boolean | undefined;
  /** @throws anything; then it is not allowed, and the log has the cause */
  decide(request: AccessRequest): AccessDecision | Promise<AccessDecision>;
  /** Whether anything there could be allowed or asked about. Default: it could. */
  could?(principal: Principal, area: AccessArea): boolean;
  /** Whether anything there could be hidden. Default: it could, unless `hides` is false. */
  couldHide?(principal: Principal, area: AccessArea): boolean;
  /** Whether anything there could be not allowed. Default: it could. */
  couldWithhold?(principal: Principal, area: AccessArea): boolean;
  /** Whether everything that is listed is allowed, so that nobody has to look. Default: not. */
  everything?(principal: Principal): boolean;
  /**
   * Whether the principal may also list, and subscribe to, whatever `decide` plainly allows it to read, so that nobody
   * asks at each read what to say of it. Default: not.
   */
  readMeansAll?(principal: Principal): boolean;
  /**
   * An object, as long as all that was decided for the principal about lists and subscriptions stays decided; another one
   * where it may not. Then entries that are listed again need not be decided about again. Default: nobody knows.
   */
  steady?(principal: Principal): object | undefined;
  /**
   * A text that is the same for resources about which the same is decided, whoever asks, as long as the policy lives.
   * Undefined where that depends on more than the URI. Default: undefined.
   */
  kindOf?(uri: string, mount: string | undefined): string | undefined;
  /** Ends what it holds. */
  close?(): Promise<void>;
}

/** Who somebody is for what is shared by those who may see the same: the same subject may come with less. */
export function principalKey({ id, scopes = [], groups = [], clientId = '' }: Principal): string {
  return JSON.stringify([id, clientId, [...scopes].sort(), [...groups].sort()]);
}

/** Tells of a caller, before it asks for anything, what it could do. */
export interface AccessOutline {
  /** Whether anything there may be used. */
  could(principal: Principal, area: AccessArea): boolean;
  /**
   * Scopes that are all that keeps a caller from something; undefined where it may be, or more is missing. Missing where
   * nothing depends on scopes.
   */
  readonly scopesFor?: ((request: AccessRequest) => Promise<readonly string[] | undefined>) | undefined;
  /** As `kindOf` of the policy, of all names that a URI has. */
  kindOf(uri: string): string | undefined;
  /** Whether the caller may read what is under a URI, as far as that is decided by its URI; tells nobody. */
  mayRead(uri: string, ctx: Context): Promise<boolean>;
  /** Whether everything that is listed is allowed to it. */
  everything(principal: Principal): boolean;
}
