/**
 * Guards reads. Nearly every read is allowed by its URI alone, and then waits for nothing but the provider. Separate functions
 * handle the other reads.
 */
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import type { ReadOptions, ResourceProvider } from '../../core/provider.ts';
import { NAMES } from '../../protocol/resources.ts';
import type { Views } from './views.ts';
import { whenDecided } from './when-decided.ts';

type Bodies = readonly ResourceBody[];

/** Whether a body has the URI under which the read was allowed, so that it needs no decision of its own. */
const isRequested = ({ child, resource }: ResourceBody, uri: string): boolean =>
  child !== true && resource.uri === uri && resource[NAMES] === undefined;

const isOnlyRequested = (bodies: Bodies, uri: string): boolean =>
  bodies.length === 1 && bodies[0] !== undefined && isRequested(bodies[0], uri);

/**
 * Gives bodies again only if the URI alone allows the caller to read them, since such bodies were passed on unchanged. This is
 * decided anew each time.
 */
export function guardedAgain(
  inner: ResourceProvider,
  { policy, decisions, unseen }: Views,
): NonNullable<ResourceProvider['again']> {
  /** Whether the policy is asynchronous. Bodies are then not given again, since that would ask it twice for one read. */
  let takesTime = false;

  return (bodies, uri, want, ctx) => {
    if (takesTime || policy.attributes || decisions.goesUp(uri) || !isOnlyRequested(bodies, uri)) return false;
    if (!decisions.readMeansAll(ctx)) return false;
    const decision = decisions.decide(unseen('read', uri), ctx);
    if (decision instanceof Promise) {
      takesTime = true;
      return false;
    }
    if (decision.effect !== 'allow' || inner.again?.(bodies, uri, want, ctx) !== true) return false;
    ctx.decided?.(decision);
    return true;
  };
}

export function guardedRead(inner: ResourceProvider, views: Views): ResourceProvider['read'] {
  const { policy, decisions, about, unseen, named, admitted, carryOut, shown, plainly } = views;

  /** Undefined if the URI alone allows the read at once; else a promise that rejects if the read is not allowed. */
  function unlessAllowed(uri: string, ctx: Context): unknown {
    if (policy.attributes) return admitted('read', uri, ctx);
    const listed = named(uri, ctx);
    if (listed !== undefined) return listed.then(() => admitted('read', uri, ctx));
    return whenDecided(decisions.decide(unseen('read', uri), ctx), (decision) => {
      // Any other effect has to be decided about the resource itself, under its own name.
      if (decision.effect !== 'allow') return admitted('read', uri, ctx);
      ctx.decided?.(decision);
      return undefined;
    });
  }

  async function readWhenAllowed(decided: unknown, uri: string, want: ReadOptions, ctx: Context): Promise<Bodies> {
    await decided;
    return keepAllowed(await inner.read(uri, want, ctx).catch((error) => fail(error, uri)), uri, ctx);
  }

  /** Returns the bodies that the caller may read, and closes the others. */
  async function keepAllowed(bodies: Bodies, uri: string, ctx: Context): Promise<Bodies> {
    try {
      const kept = await Promise.all(bodies.map(async (body) => bodyIfAllowed(body, uri, ctx)));
      await closeBodies(bodies.filter((_, index) => kept[index] === undefined));
      return kept.filter((body) => body !== undefined);
    } catch (error) {
      await closeBodies(bodies);
      throw plainly(error, uri);
    }
  }

  function bodyIfAllowed(
    body: ResourceBody,
    uri: string,
    ctx: Context,
  ): ResourceBody | undefined | Promise<ResourceBody | undefined> {
    const { resource } = body;
    if (body.child === true)
      return whenDecided(decisions.allows(about('read', resource), ctx), (allowed) =>
        allowed ? shownBody(body, ctx) : undefined,
      );
    if (!policy.attributes && isRequested(body, uri)) return shownBody(body, ctx);
    const request = about('read', resource);
    return whenDecided(decisions.decide(request, ctx), (decision) => {
      carryOut(decision, request, uri, ctx);
      return shownBody(body, ctx);
    });
  }

  function shownBody(body: ResourceBody, ctx: Context): ResourceBody | Promise<ResourceBody> {
    if (policy.everything?.(ctx.principal)) return body;
    return whenDecided(shown(body.resource, ctx), (resource) => {
      if (resource === body.resource) return body;
      const { item } = body;
      const { capabilities } = resource;
      const withItem = item === undefined || capabilities === undefined ? {} : { item: { ...item, capabilities } };
      return { ...body, ...withItem, resource };
    });
  }

  const fail = (error: unknown, uri: string): never => {
    throw plainly(error, uri);
  };

  return (uri, want, ctx) => {
    const decided = unlessAllowed(uri, ctx);
    if (decided !== undefined) return readWhenAllowed(decided, uri, want, ctx);
    return inner.read(uri, want, ctx).then(
      (bodies) => {
        const isDecided = !policy.attributes && isOnlyRequested(bodies, uri);
        return isDecided && decisions.readMeansAll(ctx) ? bodies : keepAllowed(bodies, uri, ctx);
      },
      (error: unknown) => fail(error, uri),
    );
  };
}
