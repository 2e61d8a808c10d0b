/** Shows resources as one principal may have them: each way to a resource asks here. */
import type { AccessDecision, AccessPolicy } from '../../core/access.ts';
import type { Context } from '../../core/context.ts';
import { notFound, PeerError, ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Asked, Decisions } from './decisions.ts';
import { nextTick } from './together.ts';
import { whenDecided } from './when-decided.ts';

type Operation = Asked['operation'];

export interface Views {
  readonly policy: AccessPolicy;
  readonly decisions: Decisions;
  readonly about: Decisions['about'];
  readonly unseen: Decisions['unseen'];
  /**
   * A URI with segments that lead up is there for another server that lists exactly it; undefined where nobody has to ask.
   * @throws ResourceError `not-found`
   */
  named(uri: string, ctx: Context): Promise<void> | undefined;
  /** Whether the caller may have what is under a URI, for what tells of others; tells nobody. */
  may(operation: Operation, uri: string, ctx: Context): boolean | Promise<boolean>;
  /** @throws ResourceError `not-found` in our own words for whatever is missing */
  described(uri: string, ctx: Context): Promise<Resource>;
  /**
   * Returns the resource under the URI, in whatever spelling, if it may be used in this way.
   * @throws ResourceError `denied`, `not-found`, or a question for a human
   */
  admitted(operation: Operation, uri: string, ctx: Context): Promise<Resource>;
  /** Tells the audit of a decision, and throws unless the operation may go on. @param uri as it was asked for */
  carryOut(decision: AccessDecision, asked: Asked, uri: string, ctx: Context): void;
  /** The resource as this principal has it: what it can do is what may be done with it (2093-3). */
  shown(resource: Resource, ctx: Context): Resource | Promise<Resource>;
  /** The same of one that may be listed, as was asked. */
  listedAs(asked: Asked, resource: Resource, ctx: Context): Resource | Promise<Resource>;
  /** Returns the error to throw in place of one that a provider threw. */
  plainly(error: unknown, uri: string): unknown;
  /** The context for providers that ask what may be told. @param uri undefined for the roots of all */
  asking(uri: string | undefined, ctx: Context): Context;
  /** If something may be hidden, a missing thing is answered when a hidden one is. */
  likeMissing<T>(running: Promise<T>): Promise<T>;
  /** Resolves when what is hidden and what is missing are answered; at once where nothing is hidden. */
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

  function carryOut(decision: AccessDecision, asked: Asked, uri: string, ctx: Context): void {
    // A hidden resource gives the error of a missing one, under the name that was asked for.
    decisions.carryOut(decision, asked, ctx, {
      missing: () => notFound(uri),
      key: asked.uri ?? uri,
      question: `May this be read? ${asked.uri}`,
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
      const asked = about(operation, resource);
      carryOut(await decisions.decide(asked, ctx), asked, uri, ctx);
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
    listedAs(asked, resource, ctx) {
      const { capabilities } = resource;
      if (capabilities?.subscribe !== true) return resource;
      return whenDecided(decisions.allows({ ...asked, operation: 'subscribe' }, ctx), (subscribe) =>
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
 * Another server has its own words for what is missing: passed on, they would tell apart what is missing from what is
 * hidden. Revision 2026-07-28 has one code for that and for any other bad parameter, so both become the same.
 */
function plainlyMissing(error: unknown, uri: string): unknown {
  if (error instanceof PeerError && (error.code === 'not-found' || error.code === 'invalid')) {
    return notFound(uri, error);
  }
  return error instanceof ResourceError && error.code === 'not-found' ? notFound(uri, error.cause) : error;
}
