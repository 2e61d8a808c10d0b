/**
 * Guards lists: a caller gets the entries that it may list, with the capabilities that it may use. A page is given again
 * only while the decisions about its entries hold.
 */
import { isRepeatable, markRepeatable } from '../../core/again.ts';
import type { Context } from '../../core/context.ts';
import { fillPage } from '../../core/lists/filtered-list.ts';
import type { Page, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { NAMES, type Resource } from '../../protocol/resources.ts';
import { withoutUnseenMounts } from './unseen-mounts.ts';
import type { Views } from './views.ts';
import { whenDecided } from './when-decided.ts';

/** The parts that a page for a caller was made of. */
interface Origin {
  /** Pages of the inner provider, each with its request. */
  readonly pages: { readonly page: ResourcePage; readonly want: Page }[];
  /** Each entry with the resource that the caller gets for it; undefined if the entry is left out. */
  readonly shown: { readonly entry: Resource; readonly as: Resource | undefined }[];
  /** As long as the policy returns this object, the decisions about `shown` hold. */
  readonly steady: object | undefined;
}

export interface GuardedList {
  list(uri: string | undefined, page: Page, ctx: Context): Promise<ResourcePage>;
  readonly listAgain: NonNullable<ResourceProvider['listAgain']>;
}

export function guardedList(inner: ResourceProvider, views: Views): GuardedList {
  const { policy, decisions, about, unseen, admitted, listedAs } = views;
  const origins = new WeakMap<ResourcePage, Origin>();
  /** Whether the policy is asynchronous. Pages are then not given again, since that would ask it twice for one list. */
  let takesTime = false;

  function keepListed(resource: Resource, ctx: Context): Resource | undefined | Promise<Resource | undefined> {
    const request = about('list', resource);
    return whenDecided(decisions.allows(request, ctx), (allowed) =>
      allowed ? listedAs(request, resource, ctx) : undefined,
    );
  }

  /** Whether the URI alone shows, without waiting, that the caller may list it. */
  function isAdmitted(uri: string | undefined, ctx: Context): boolean {
    if (uri === undefined) return true;
    if (decisions.goesUp(uri)) return false;
    const decision = decisions.decide(unseen('list', uri), ctx);
    if (decision instanceof Promise) {
      takesTime = true;
      return false;
    }
    if (decision.effect === 'allow') ctx.decided?.(decision);
    return decision.effect === 'allow';
  }

  const isSteady = ({ steady }: Origin, ctx: Context): boolean =>
    steady !== undefined && decisions.steady(ctx) === steady;

  const isShownAs = (resource: Resource, as: Resource | undefined, ctx: Context): boolean => {
    const now = keepListed(resource, ctx);
    if (now instanceof Promise) takesTime = true;
    return now === as;
  };

  return {
    async list(uri, page, ctx) {
      const itself = uri === undefined ? undefined : await admitted('list', uri, ctx);
      const seen = withoutUnseenMounts(policy, ctx);
      const origin: Origin = { pages: [], shown: [], steady: decisions.steady(ctx) };
      const { items, ...rest } = await fillPage(
        async (want: Page, quietly) => {
          const given = await inner.list(uri, want, quietly ? { ...ctx, notes: undefined } : seen);
          origin.pages.push({ page: given, want });
          const { resources, ...more } = given;
          return { ...more, items: resources };
        },
        page,
        (entry) =>
          whenDecided(keepListed(entry, ctx), (as) => {
            origin.shown.push({ entry, as });
            return as;
          }),
        ctx,
      );
      const listed: ResourcePage = { ...rest, resources: items };
      const plainly = itself === undefined || (itself.uri === uri && itself[NAMES] === undefined);
      if (policy.attributes || takesTime || !plainly || !origin.pages.every(({ page: given }) => isRepeatable(given)))
        return listed;
      origins.set(listed, origin);
      return markRepeatable(listed);
    },

    listAgain(page, uri, want, ctx) {
      if (takesTime || policy.attributes) return false;
      const origin = origins.get(page);
      if (origin === undefined) return false;
      return (
        isAdmitted(uri, ctx) &&
        origin.pages.every((given) => inner.listAgain?.(given.page, uri, given.want, ctx) === true) &&
        (isSteady(origin, ctx) || origin.shown.every(({ entry, as }) => isShownAs(entry, as, ctx))) &&
        origin.pages[0]?.want.cursor === want.cursor &&
        origin.pages[0]?.want.limit === want.limit
      );
    },
  };
}
