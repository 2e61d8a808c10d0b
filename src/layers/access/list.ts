/**
 * Lists under a policy: the entries that may be listed, as this caller may have them. Which they are is decided anew each
 * time, also where the page is known.
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
interface Made {
  /** Pages of the inner provider, and what was wanted of it. */
  readonly taken: { readonly page: ResourcePage; readonly want: Page }[];
  /** Each entry, and the resource that is shown for it; undefined where none is. */
  readonly shown: { readonly entry: Resource; readonly as: Resource | undefined }[];
  /** As long as the policy gives this object, that stays decided. */
  readonly steady: object | undefined;
}

export interface GuardedList {
  list(uri: string | undefined, page: Page, ctx: Context): Promise<ResourcePage>;
  readonly listAgain: NonNullable<ResourceProvider['listAgain']>;
}

export function guardedList(inner: ResourceProvider, views: Views): GuardedList {
  const { policy, decisions, about, unseen, admitted, listedAs } = views;
  const origins = new WeakMap<ResourcePage, Made>();
  /** Somebody else is asked, which takes time: not twice for one list. */
  let takesTime = false;

  function keepListed(resource: Resource, ctx: Context): Resource | undefined | Promise<Resource | undefined> {
    const asked = about('list', resource);
    return whenDecided(decisions.allows(asked, ctx), (allowed) =>
      allowed ? listedAs(asked, resource, ctx) : undefined,
    );
  }

  /** Whether the list itself may plainly be had, as far as its URI says. */
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

  const isSteady = ({ steady }: Made, ctx: Context): boolean =>
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
      const made: Made = { taken: [], shown: [], steady: decisions.steady(ctx) };
      const { items, ...rest } = await fillPage(
        async (want: Page, quietly) => {
          const given = await inner.list(uri, want, quietly ? { ...ctx, notes: undefined } : seen);
          made.taken.push({ page: given, want });
          const { resources, ...more } = given;
          return { ...more, items: resources };
        },
        page,
        (entry) =>
          whenDecided(keepListed(entry, ctx), (as) => {
            made.shown.push({ entry, as });
            return as;
          }),
        ctx,
      );
      const listed: ResourcePage = { ...rest, resources: items };
      const plainly = itself === undefined || (itself.uri === uri && itself[NAMES] === undefined);
      if (policy.attributes || takesTime || !plainly || !made.taken.every((each) => isRepeatable(each.page)))
        return listed;
      origins.set(listed, made);
      return markRepeatable(listed);
    },

    listAgain(page, uri, want, ctx) {
      if (takesTime || policy.attributes) return false;
      const made = origins.get(page);
      if (made === undefined) return false;
      return (
        isAdmitted(uri, ctx) &&
        made.taken.every((each) => inner.listAgain?.(each.page, uri, each.want, ctx) === true) &&
        (isSteady(made, ctx) || made.shown.every(({ entry, as }) => isShownAs(entry, as, ctx))) &&
        made.taken[0]?.want.cursor === want.cursor &&
        made.taken[0]?.want.limit === want.limit
      );
    },
  };
}
