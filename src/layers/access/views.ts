/** What is there, as one principal may have it: each way to a resource asks here. */
import type { AccessDecision, AccessPolicy } from '../../core/access.ts';
import type { Context } from '../../core/context.ts';
import { notFound, PeerError, ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Asked, Decisions } from './decisions.ts';

export type MountOf = (uri: string) => string | undefined;

type Operation = Asked['operation'];

export interface Views {
  readonly policy: AccessPolicy;
  readonly decisions: Decisions;
  /** A question about what is known. */
  about(operation: Operation, resource: Resource): Asked;
  /** A question about a URI of which nothing is known. */
  unseen(operation: Operation, uri: string): Asked;
  /** @throws ResourceError `not-found` in our own words for whatever is missing */
  described(uri: string, ctx: Context): Promise<Resource>;
  /**
   * What is there under the URI, in whatever spelling, and may be used in this way.
   * @throws ResourceError `denied`, `not-found`, or a question for a human
   */
  admitted(operation: Operation, uri: string, ctx: Context): Promise<Resource>;
  /** What comes of a decision. @param uri as it was asked for */
  carryOut(decision: AccessDecision, asked: Asked, uri: string, ctx: Context): void;
  /** The resource as this principal has it: what it can do is what may be done with it (2093-3). */
  shown(resource: Resource, ctx: Context): Resource | Promise<Resource>;
  /** What is thrown in place of what a provider threw. */
  plainly(error: unknown, uri: string): unknown;
}

export function createViews(inner: ResourceProvider, decisions: Decisions, mountOf: MountOf): Views {
  const { policy } = decisions;
  const hides = policy.hides !== false;
  const about: Views['about'] = (operation, resource) => ({
    operation,
    uri: resource.uri,
    mount: mountOf(resource.uri),
    resource,
  });
  const plainly: Views['plainly'] = (error, uri) => (hides ? plainlyMissing(error, uri) : error);

  async function described(uri: string, ctx: Context): Promise<Resource> {
    try {
      return await inner.metadata(uri, ctx);
    } catch (error) {
      throw plainly(error, uri);
    }
  }

  function carryOut(decision: AccessDecision, asked: Asked, uri: string, ctx: Context): void {
    // What is hidden has the error of what is missing, under the name that was asked for.
    decisions.carryOut(decision, asked, ctx, {
      missing: () => notFound(uri),
      key: asked.uri ?? uri,
      question: `May this be read? ${asked.uri}`,
    });
  }

  return {
    policy,
    decisions,
    about,
    unseen: (operation, uri) => ({ operation, uri, mount: mountOf(uri) }),
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
