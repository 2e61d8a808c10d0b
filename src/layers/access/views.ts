/** Applies the policy to resources for one principal: every operation on a resource asks here. */
import type { AccessDecision, AccessPolicy } from '../../core/access.ts';
import type { Context } from '../../core/context.ts';
import { notFound, PeerError, ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { DecisionRequest, Decisions } from './decisions.ts';
import { nextTick } from './together.ts';
import { whenDecided } from './when-decided.ts';

type Operation = DecisionRequest['operation'];

export interface Views {
  readonly policy: AccessPolicy;
  readonly decisions: Decisions;
  readonly about: Decisions['about'];
  readonly unseen: Decisions['unseen'];
  /**
   * Checks that another server lists exactly this URI, if it contains `..` segments; undefined where no check is needed.
   * @throws ResourceError `not-found`
   */
  named(uri: string, ctx: Context): Promise<void> | undefined;
  /** Whether an operation on the resource of a URI is allowed without asking a human. The audit does not record the decision. */
  may(operation: Operation, uri: string, ctx: Context): boolean | Promise<boolean>;
  /** @throws ResourceError `not-found`, with Vitrine's own message if anything may be hidden */
  described(uri: string, ctx: Context): Promise<Resource>;
  /**
   * Returns the resource of the URI, in any spelling, if the operation is allowed.
   * @throws ResourceError `denied`, `not-found`, or a question for a human
   */
  admitted(operation: Operation, uri: string, ctx: Context): Promise<Resource>;
  /** Records a decision in the audit, and throws unless the operation may continue. @param uri as it was requested */
  carryOut(decision: AccessDecision, request: DecisionRequest, uri: string, ctx: Context): void;
  /** Returns the resource with only the capabilities that the principal may use (2093-3). */
  shown(resource: Resource, ctx: Context): Resource | Promise<Resource>;
  /** The same for a resource that may be listed, as was already decided. */
  listedAs(request: DecisionRequest, resource: Resource, ctx: Context): Resource | Promise<Resource>;
  /** Returns the error to throw in place of a provider's error. */
  plainly(error: unknown, uri: string): unknown;
  /** Returns the context for providers that ask about further resources. @param uri undefined for the roots of all mounts */
  asking(uri: string | undefined, ctx: Context): Context;
  /** If anything may be hidden, delays the answer for a missing resource as long as for a hidden one. */
  likeMissing<T>(running: Promise<T>): Promise<T>;
  /** Resolves when a request for a hidden or missing resource may be answered; undefined if nothing may be hidden. */
  whenHidden(): Promise<void> | undefined;
}

export function createViews(inner: ResourceProvider, decisions: Decisions): Views {
  const { policy, about, unseen } = decisions;
  const hides = policy.hides !== false;
  const plainly: Views['plainly'] = (error, uri) => (hides ? plainlyMissing(error, uri) : error);

  async function assertListed(uri: string, ctx: Context): Promise<void> {
    if ((await inner.isListed?.(uri, ctx)) !== true) throw notFound(uri);
  }

  const named: Views['named'] = (uri, ctx) =>
    decisions.goesUp(uri) && policy.everything?.(ctx.principal) !== true ? assertListed(uri, ctx) : undefined;

  async function described(uri: string, ctx: Context): Promise<Resource> {
    try {
      await named(uri, ctx);
      return await inner.metadata(uri, ctx);
    } catch (error) {
      throw plainly(error, uri);
    }
  }

  function carryOut(decision: AccessDecision, request: DecisionRequest, uri: string, ctx: Context): void {
    // A hidden resource causes the error of a missing one, with the requested URI.
    decisions.carryOut(decision, request, ctx, {
      missing: () => notFound(uri),
      key: request.uri ?? uri,
      question: `May this be read? ${request.uri}`,
    });
  }

  const may: Views['may'] = (operation, uri, ctx) => {
    if (!policy.attributes) return decisions.allows(unseen(operation, uri), ctx);
    return described(uri, { ...ctx, may: undefined }).then(
      (resource) => decisions.allows(about(operation, resource), ctx),
      () => false,
    );
  };

  const gathers = (uri: string | undefined): boolean =>
    uri === undefined ? inner.features.gathers === true : decisions.featuresOf(uri)?.gathers === true;

  async function togetherWithHidden(error: unknown): Promise<never> {
    if (error instanceof ResourceError && error.code === 'not-found') await nextTick();
    throw error;
  }

  return {
    policy,
    decisions,
    may,
    asking: (uri, ctx) =>
      gathers(uri) && policy.everything?.(ctx.principal) !== true
        ? { ...ctx, may: (operation, other) => may(operation, other, ctx) }
        : ctx,
    whenHidden: () => (hides ? nextTick() : undefined),
    likeMissing: (running) => (hides ? running.catch(togetherWithHidden) : running),
    about,
    unseen,
    named,
    described,
    async admitted(operation, uri, ctx) {
      const resource = await described(uri, ctx);
      const request = about(operation, resource);
      carryOut(await decisions.decide(request, ctx), request, uri, ctx);
      return resource;
    },
    carryOut,
    shown(resource, ctx) {
      const { capabilities } = resource;
      if (capabilities === undefined) return resource;
      const list = capabilities.list && decisions.allows(about('list', resource), ctx);
      const subscribe = capabilities.subscribe && decisions.allows(about('subscribe', resource), ctx);
      if (typeof list === 'boolean' && typeof subscribe === 'boolean') return ableTo(resource, list, subscribe);
      return Promise.all([list, subscribe]).then((allowed) => ableTo(resource, ...allowed));
    },
    listedAs(request, resource, ctx) {
      const { capabilities } = resource;
      if (capabilities?.subscribe !== true) return resource;
      return whenDecided(decisions.allows({ ...request, operation: 'subscribe' }, ctx), (subscribe) =>
        ableTo(resource, capabilities.list, subscribe),
      );
    },
    plainly,
  };
}

function ableTo(resource: Resource, list: boolean, subscribe: boolean): Resource {
  const { capabilities } = resource;
  if (capabilities === undefined || (list === capabilities.list && subscribe === capabilities.subscribe))
    return resource;
  return { ...resource, capabilities: { ...capabilities, list, subscribe } };
}

/**
 * Replaces another server's own error for a missing resource: passed on, it would tell missing resources from hidden ones.
 * Revision 2026-07-28 has one code for a missing resource and any other bad parameter, so both become the same error.
 */
function plainlyMissing(error: unknown, uri: string): unknown {
  if (error instanceof PeerError && (error.code === 'not-found' || error.code === 'invalid')) {
    return notFound(uri, error);
  }
  return error instanceof ResourceError && error.code === 'not-found' ? notFound(uri, error.cause) : error;
}
