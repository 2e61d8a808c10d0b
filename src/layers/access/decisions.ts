/** The one place where a policy is asked: it fails closed, tells the audit, and turns a decision into what happens. */
import type { AccessDecision, AccessPolicy, AccessRequest } from '../../core/access.ts';
import { ConfirmationNeeded } from '../../core/asking/needed.ts';
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

/** A request to decide, without the principal. */
export type Asked = Omit<AccessRequest, 'principal'>;

/** How a refusal and a question are put. */
export interface Manner {
  /** Makes the error for a thing that is hidden: as if it did not exist. */
  readonly missing: () => Error;
  /** Under which a human's answer is known. */
  readonly key: string;
  readonly question: string;
}

export interface Decisions {
  readonly policy: AccessPolicy;
  /** A question about what is known. */
  about(operation: Asked['operation'], resource: Resource): Asked;
  /** A question about a URI of which nothing is known. */
  unseen(operation: Asked['operation'], uri: string): Asked;
  /** Whether the URI could lead elsewhere than it says: it is taken only as its server lists it. */
  goesUp(uri: string): boolean;
  /** The features of the provider that the URI leads to; undefined where it leads to none. */
  featuresOf(uri: string): ProviderFeatures | undefined;
  /** Whether something of a mount may be hidden from the caller. */
  mayHide(operation: AccessOperation, mount: string | undefined, ctx: Context): boolean;
  /** The strictest of what is decided under each name that the thing has. */
  decide(asked: Asked, ctx: Context): AccessDecision | Promise<AccessDecision>;
  /** Whether it is allowed without asking anybody now; tells nobody. */
  allows(asked: Asked, ctx: Context): boolean | Promise<boolean>;
  /** Whether whatever the caller may plainly read may be listed and subscribed to as well: then nobody has to ask. */
  readMeansAll(ctx: Context): boolean;
  /** A text that is the same for URIs that are decided about alike; undefined where more than the URI decides. */
  kindOf(uri: string): string | undefined;
  /** As long as this is the same object, what was decided for the caller about lists holds. */
  steady(ctx: Context): object | undefined;
  /**
   * Resolves when it may be; tells the audit.
   * @throws ResourceError `denied`, `not-found`, or a question for a human
   */
  enforce(asked: Asked, ctx: Context, manner?: Manner): Promise<void>;
  /** As `enforce`, of a decision that is there. */
  carryOut(decision: AccessDecision, asked: Asked, ctx: Context, manner?: Manner): void;
}

/** @param resolver finds the mounts of URIs; without it nothing belongs to one */
export function createDecisions(policy: AccessPolicy, resolver?: Resolver): Decisions {
  const consents = createConsents();

  function decide(asked: Asked, ctx: Context): AccessDecision | Promise<AccessDecision> {
    const { uri, template, resource } = asked;
    const others = uri === undefined || template === true ? undefined : otherNames(uri, resolver);
    const leads = resource?.[NAMES]?.leadsTo;
    if (others === undefined && leads === undefined) return decideOne(asked, ctx);
    const decideAs = (name: string) => decideOne({ ...asked, uri: name, mount: resolver?.mountOf(name) }, ctx);
    const same = [...(others?.same ?? []), ...(leads ?? [])].map(decideAs);
    const possible = (others?.possible ?? []).map(decideAs);
    return strictest([decideOne(asked, ctx), ...same], possible);
  }

  /** By one name. */
  function decideOne(asked: Asked, ctx: Context): AccessDecision | Promise<AccessDecision> {
    try {
      const decision = policy.decide(requestOf(asked, ctx));
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

  const passes = (decision: AccessDecision, asked: Asked, ctx: Context): boolean =>
    decision.effect === 'allow' || (decision.effect === 'ask' && consents.of(keyOf(asked), ctx) === 'yes');

  function carryOut(decision: AccessDecision, asked: Asked, ctx: Context, manner = ofResource(asked)): void {
    const { effect, rule, rememberMs = 0, scopes } = decision;
    ctx.decided?.({ effect, rule });
    switch (effect) {
      case 'allow':
        return;
      case 'hide':
        throw manner.missing();
      case 'deny':
        throw denied(asked, scopes);
      case 'ask': {
        const said = consents.of(manner.key, ctx);
        consents.keep(manner.key, ctx, rememberMs);
        if (said === 'yes') return;
        if (said === 'no') throw refused(asked);
        throw new ConfirmationNeeded(manner.key, manner.question, asked.uri);
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
    allows(asked, ctx) {
      return whenDecided(decide(asked, ctx), (decision) => passes(decision, asked, ctx));
    },
    readMeansAll: (ctx) => unlessItFails(ctx, () => policy.readMeansAll?.(ctx.principal)) === true,
    kindOf(uri) {
      const { same = [], possible = [] } = otherNames(uri, resolver) ?? {};
      const kinds = [uri, ...same, ...possible].map((name) => policy.kindOf?.(name, resolver?.mountOf(name)));
      return kinds.includes(undefined) ? undefined : [...new Set(kinds)].join(' ');
    },
    steady: (ctx) => unlessItFails(ctx, () => policy.steady?.(ctx.principal)),
    async enforce(asked, ctx, manner) {
      const decision = decide(asked, ctx);
      carryOut(decision instanceof Promise ? await decision : decision, asked, ctx, manner);
    },
    carryOut,
  };
}

/** Each field by its name: a spread of objects of several shapes costs more than the decision itself. */
const requestOf = (asked: Asked, { principal }: Context): AccessRequest => ({
  principal,
  operation: asked.operation,
  uri: asked.uri,
  template: asked.template,
  resource: asked.resource,
  mount: asked.mount,
  name: asked.name,
  arguments: asked.arguments,
  onlyResources: asked.onlyResources,
});

/** Of a resource that is asked about, its URI; what else is asked about says its own. */
const keyOf = ({ uri }: Asked): string => uri ?? '';

const ofResource = ({ uri = '' }: Asked): Manner => ({
  missing: () => notFound(uri),
  key: uri,
  question: `May this be read? ${uri}`,
});

const refused = ({ uri }: Asked): ResourceError =>
  uri === undefined
    ? new ResourceError('denied', 'The user did not allow this')
    : new ResourceError('denied', 'The user did not let this resource be read', { uri });

function denied({ operation, uri, name }: Asked, scopes: readonly string[] = []): ResourceError {
  const what = name === undefined ? 'this resource' : `${operation === 'call' ? 'the tool' : 'the prompt'} ${name}`;
  const needs = scopes.length === 0 ? '' : `; a token with ${scopes.join(' ')} may`;
  return new ResourceError('denied', `Access to ${what} is denied (${operation})${needs}`, {
    uri,
    ...(scopes.length > 0 && { details: { scopes } }),
  });
}
