/** Lets the policy decide; no other code does. Denies if the policy fails; records decisions in the audit; carries them out. */
import type { AccessDecision, AccessPolicy, AccessRequest } from '../../core/access.ts';
import { ConfirmationNeeded, humanRefused } from '../../core/asking/needed.ts';
import type { Context } from '../../core/context.ts';
import type { AccessOperation } from '../../core/decided.ts';
import { notFound, ResourceError } from '../../core/errors.ts';
import type { Resolver } from '../../core/mounts/resolver.ts';
import type { ProviderFeatures } from '../../core/provider.ts';
import { NAMES, type Resource } from '../../protocol/resources.ts';
import { createConsents } from './consents.ts';
import { goesUp, otherNames } from './names.ts';
import { strictest } from './strictest.ts';
import { whenDecided } from './when-decided.ts';

/** A request to decide about, without the principal. */
export type DecisionRequest = Omit<AccessRequest, 'principal'>;

/** The error for a hidden thing, and the question that a human is asked about it. */
export interface Manner {
  /** Makes the error for a thing that is hidden: as if it did not exist. */
  readonly missing: () => Error;
  /** The key under which a human's answer is kept. */
  readonly key: string;
  readonly question: string;
}

export interface Decisions {
  readonly policy: AccessPolicy;
  /** A request about a resource that is known. */
  about(operation: DecisionRequest['operation'], resource: Resource): DecisionRequest;
  /** A request about a URI whose resource is not known yet. */
  unseen(operation: DecisionRequest['operation'], uri: string): DecisionRequest;
  /** Whether the URI has `..` segments, and so could lead elsewhere. It is accepted only if its server lists exactly this URI. */
  goesUp(uri: string): boolean;
  /** The features of the provider that the URI leads to; undefined if it leads to none. */
  featuresOf(uri: string): ProviderFeatures | undefined;
  /** Whether something of a mount may be hidden from the caller. */
  mayHide(operation: AccessOperation, mount: string | undefined, ctx: Context): boolean;
  /** The strictest of the decisions about all names that a resource has. */
  decide(request: DecisionRequest, ctx: Context): AccessDecision | Promise<AccessDecision>;
  /** Whether a request is allowed without asking a human now. The decision is not recorded in the audit. */
  allows(request: DecisionRequest, ctx: Context): boolean | Promise<boolean>;
  /** Whether the caller may also list and subscribe to everything that it may read: then only reads need a decision. */
  readMeansAll(ctx: Context): boolean;
  /** URIs for which this returns the same text get the same decisions. Undefined if decisions depend on more than the URI. */
  kindOf(uri: string): string | undefined;
  /** As long as this returns the same object, earlier decisions for the caller about lists hold. */
  steady(ctx: Context): object | undefined;
  /**
   * Resolves if the request may continue. Records the decision in the audit.
   * @throws ResourceError `denied`; the error of `manner`, which is `not-found` by default; or a question for a human
   */
  enforce(request: DecisionRequest, ctx: Context, manner?: Manner): Promise<void>;
  /** Does the same as `enforce` for a decision that was already made. */
  carryOut(decision: AccessDecision, request: DecisionRequest, ctx: Context, manner?: Manner): void;
}

/** @param resolver finds the mounts of URIs; without it, no URI belongs to a mount */
export function createDecisions(policy: AccessPolicy, resolver?: Resolver): Decisions {
  const consents = createConsents();

  function decide(request: DecisionRequest, ctx: Context): AccessDecision | Promise<AccessDecision> {
    const { uri, template, resource } = request;
    const others = uri === undefined || template === true ? undefined : otherNames(uri, resolver);
    const leads = resource?.[NAMES]?.leadsTo;
    if (others === undefined && leads === undefined) return decideOne(request, ctx);
    const decideAs = (name: string) => decideOne({ ...request, uri: name, mount: resolver?.mountOf(name) }, ctx);
    const same = [...(others?.same ?? []), ...(leads ?? [])].map(decideAs);
    const possible = (others?.possible ?? []).map(decideAs);
    return strictest([decideOne(request, ctx), ...same], possible);
  }

  /** Decides about one name of a resource. */
  function decideOne(request: DecisionRequest, ctx: Context): AccessDecision | Promise<AccessDecision> {
    try {
      const decision = policy.decide(requestOf(request, ctx));
      return decision instanceof Promise ? decision.catch((error) => failed(error, ctx)) : decision;
    } catch (error) {
      return failed(error, ctx);
    }
  }

  function failed(error: unknown, ctx: Context): AccessDecision {
    ctx.log.error('the access policy failed, so nothing is allowed', { policy: policy.name, error });
    return { effect: 'deny', rule: 'the policy failed' };
  }

  function unlessItFails<T>(ctx: Context, ask: () => T): T | undefined {
    try {
      return ask();
    } catch (error) {
      ctx.log.error('the access policy failed, so it is asked about everything', { policy: policy.name, error });
      return undefined;
    }
  }

  const passes = (decision: AccessDecision, request: DecisionRequest, ctx: Context): boolean =>
    decision.effect === 'allow' || (decision.effect === 'ask' && consents.of(keyOf(request), ctx) === 'yes');

  function carryOut(
    decision: AccessDecision,
    request: DecisionRequest,
    ctx: Context,
    manner = ofResource(request),
  ): void {
    const { effect, rule, rememberMs = 0, scopes } = decision;
    ctx.decided?.({ effect, rule });
    switch (effect) {
      case 'allow':
        return;
      case 'hide':
        throw manner.missing();
      case 'deny':
        throw denied(request, scopes);
      case 'ask': {
        const answer = consents.of(manner.key, ctx);
        consents.keep(manner.key, ctx, rememberMs);
        if (answer === 'yes') return;
        if (answer === 'no') throw humanRefused(request.uri);
        throw new ConfirmationNeeded(manner.key, manner.question, request.uri);
      }
    }
  }

  return {
    policy,
    about: (operation, resource) => ({
      operation,
      uri: resource.uri,
      mount: resolver?.mountOf(resource.uri),
      resource,
    }),
    unseen: (operation, uri) => ({ operation, uri, mount: resolver?.mountOf(uri) }),
    goesUp: (uri) => goesUp(uri, resolver),
    featuresOf: (uri) => resolver?.resolve(uri)?.mount.provider.features,
    mayHide: (operation, mount, { principal }) =>
      policy.hides !== false && policy.couldHide?.(principal, { operation, mount }) !== false,
    decide,
    allows(request, ctx) {
      return whenDecided(decide(request, ctx), (decision) => passes(decision, request, ctx));
    },
    readMeansAll: (ctx) => unlessItFails(ctx, () => policy.readMeansAll?.(ctx.principal)) === true,
    kindOf(uri) {
      const { same = [], possible = [] } = otherNames(uri, resolver) ?? {};
      const kinds = [uri, ...same, ...possible].map((name) => policy.kindOf?.(name, resolver?.mountOf(name)));
      return kinds.includes(undefined) ? undefined : [...new Set(kinds)].join(' ');
    },
    steady: (ctx) => unlessItFails(ctx, () => policy.steady?.(ctx.principal)),
    async enforce(request, ctx, manner) {
      const decision = decide(request, ctx);
      carryOut(decision instanceof Promise ? await decision : decision, request, ctx, manner);
    },
    carryOut,
  };
}

/** Copies each field by its name: a spread of objects of several shapes costs more than the decision itself. */
const requestOf = (request: DecisionRequest, { principal }: Context): AccessRequest => ({
  principal,
  operation: request.operation,
  uri: request.uri,
  template: request.template,
  resource: request.resource,
  mount: request.mount,
  name: request.name,
  arguments: request.arguments,
  onlyResources: request.onlyResources,
});

/** The key of consents about a resource: its URI. Tools and prompts have keys of their own (`Manner.key`). */
const keyOf = ({ uri }: DecisionRequest): string => uri ?? '';

const ofResource = ({ uri = '' }: DecisionRequest): Manner => ({
  missing: () => notFound(uri),
  key: uri,
  question: `May this be read? ${uri}`,
});

function denied({ operation, uri, name }: DecisionRequest, scopes: readonly string[] = []): ResourceError {
  const what = name === undefined ? 'this resource' : `${operation === 'call' ? 'the tool' : 'the prompt'} ${name}`;
  const needs = scopes.length === 0 ? '' : `; a token with ${scopes.join(' ')} may`;
  return new ResourceError('denied', `Access to ${what} is denied (${operation})${needs}`, {
    uri,
    ...(scopes.length > 0 && { details: { scopes } }),
  });
}
