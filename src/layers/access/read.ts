/**
 * Reads under a policy. Each read comes by here, and nearly each is plainly allowed: that way waits for nothing but the
 * read itself, and the others are beside it.
 */
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import type { ReadOptions, ResourceProvider } from '../../core/provider.ts';
import { NAMES } from '../../protocol/resources.ts';
import type { Views } from './views.ts';
import { whenDecided } from './when-decided.ts';

type Bodies = readonly ResourceBody[];

/** The one body of a read, under the name that it was allowed under: nothing else is to be decided about it. */
const isAskedFor = ({ child, resource }: ResourceBody, uri: string): boolean =>
  child !== true && resource.uri === uri && resource[NAMES] === undefined;

const isAllAskedFor = (bodies: Bodies, uri: string): boolean =>
  bodies.length === 1 && bodies[0] !== undefined && isAskedFor(bodies[0], uri);

/** Of what this caller may plainly read, as it is: then it was given as it came. Decided anew each time. */
export function guardedAgain(
  inner: ResourceProvider,
  { policy, decisions, unseen }: Views,
): NonNullable<ResourceProvider['again']> {
  /** Somebody else is asked, which takes time: not twice for one read. */
  let takesTime = false;

  return (bodies, uri, want, ctx) => {
    if (takesTime || policy.attributes || decisions.goesUp(uri) || !isAllAskedFor(bodies, uri)) return false;
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

  /** Undefined where it is plainly allowed: then there is nothing to wait for. */
  function unlessAllowed(uri: string, ctx: Context): unknown {
    if (policy.attributes) return admitted('read', uri, ctx);
    const listed = named(uri, ctx);
    if (listed !== undefined) return listed.then(() => admitted('read', uri, ctx));
    return whenDecided(decisions.decide(unseen('read', uri), ctx), (decision) => {
      // Anything but a plain yes is about what is really there, under its own name.
      if (decision.effect !== 'allow') return admitted('read', uri, ctx);
      ctx.decided?.(decision);
      return undefined;
    });
  }

  async function readWhenSure(unsure: unknown, uri: string, want: ReadOptions, ctx: Context): Promise<Bodies> {
    await unsure;
    return kept(await inner.read(uri, want, ctx).catch((error) => fail(error, uri)), uri, ctx);
  }

  /** The contents that may be read. */
  async function kept(bodies: Bodies, uri: string, ctx: Context): Promise<Bodies> {
    try {
      const seen = await Promise.all(bodies.map(async (body) => keptBody(body, uri, ctx)));
      await closeBodies(bodies.filter((_, index) => seen[index] === undefined));
      return seen.filter((body) => body !== undefined);
    } catch (error) {
      await closeBodies(bodies);
      throw plainly(error, uri);
    }
  }

  function keptBody(
    body: ResourceBody,
    uri: string,
    ctx: Context,
  ): ResourceBody | undefined | Promise<ResourceBody | undefined> {
    const { resource } = body;
    if (body.child === true)
      return whenDecided(decisions.allows(about('read', resource), ctx), (allowed) =>
        allowed ? shownBody(body, ctx) : undefined,
      );
    if (!policy.attributes && isAskedFor(body, uri)) return shownBody(body, ctx);
    const asked = about('read', resource);
    return whenDecided(decisions.decide(asked, ctx), (decision) => {
      carryOut(decision, asked, uri, ctx);
      return shownBody(body, ctx);
    });
  }

  function shownBody(body: ResourceBody, ctx: Context): ResourceBody | Promise<ResourceBody> {
    if (policy.everything?.(ctx.principal)) return body;
    return whenDecided(shown(body.resource, ctx), (resource) => {
      if (resource === body.resource) return body;
      const { item } = body;
      const { capabilities } = resource;
      const own = item === undefined || capabilities === undefined ? {} : { item: { ...item, capabilities } };
      return { ...body, ...own, resource };
    });
  }

  const fail = (error: unknown, uri: string): never => {
    throw plainly(error, uri);
  };

  return (uri, want, ctx) => {
    const unsure = unlessAllowed(uri, ctx);
    if (unsure !== undefined) return readWhenSure(unsure, uri, want, ctx);
    return inner.read(uri, want, ctx).then(
      (bodies) => {
        const isAll = !policy.attributes && isAllAskedFor(bodies, uri);
        return isAll && decisions.readMeansAll(ctx) ? bodies : kept(bodies, uri, ctx);
      },
      (error: unknown) => fail(error, uri),
    );
  };
}
