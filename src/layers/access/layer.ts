/** Enforces the access policy on every operation: list, metadata, read, watch, complete, search and call (SEC-RES-2). */
import type { Context } from '../../core/context.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import { fillPage } from '../../core/lists/filtered-list.ts';
import type { Resource } from '../../protocol/resources.ts';
import { guardedComplete } from './complete.ts';
import type { Decisions } from './decisions.ts';
import { guardedList } from './list.ts';
import { guardedNames } from './named.ts';
import { guardedAgain, guardedRead } from './read.ts';
import { guardedSkills } from './skills.ts';
import { withoutUnseenMounts } from './unseen-mounts.ts';
import { createViews } from './views.ts';
import { guardedWatch } from './watch.ts';

export function accessLayer(decisions: Decisions): Layer {
  const { policy } = decisions;

  return (inner) => {
    const views = createViews(inner, decisions);
    const { about, unseen, described, admitted, carryOut, shown, asking, likeMissing } = views;

    async function metadata(uri: string, ctx: Context): Promise<Resource> {
      const { purpose } = ctx;
      if (purpose === undefined) return shown(await admitted('metadata', uri, ctx), ctx);
      const resource = await described(uri, ctx);
      const asked = about(purpose, resource);
      const decision = await decisions.decide(asked, ctx);
      // The operation that needs the metadata asks the human itself.
      if (decision.effect !== 'ask') carryOut(decision, asked, uri, ctx);
      return shown(resource, ctx);
    }

    const { list, listAgain } = guardedList(inner, views);
    const read = guardedRead(inner, views);
    const again = guardedAgain(inner, views);
    const watch = guardedWatch(inner, views);
    const complete = guardedComplete(inner, views);

    return wrapProvider(inner, {
      ...guardedNames(inner, decisions),
      ...guardedSkills(inner, views),

      list(uri, page, ctx) {
        if (policy.everything?.(ctx.principal) === true) return inner.list(uri, page, ctx);
        return likeMissing(list(uri, page, asking(uri, ctx)));
      },

      listAgain(page, uri, want, ctx) {
        if (policy.everything?.(ctx.principal) === true) return inner.listAgain?.(page, uri, want, ctx) === true;
        return listAgain(page, uri, want, asking(uri, ctx));
      },

      metadata: (uri, ctx) => likeMissing(metadata(uri, asking(uri, ctx))),

      read: (uri, want, ctx) => likeMissing(read(uri, want, asking(uri, ctx))),

      again: (bodies, uri, want, ctx) => again(bodies, uri, want, asking(uri, ctx)),

      async listTemplates(page, ctx) {
        if (policy.everything?.(ctx.principal) === true) {
          return (await inner.listTemplates?.(page, ctx)) ?? { resourceTemplates: [] };
        }
        const seen = withoutUnseenMounts(policy, ctx);
        const { items, nextCursor } = await fillPage(
          async (wanted, quietly) => {
            const found = await inner.listTemplates?.(wanted, quietly ? { ...ctx, notes: undefined } : seen);
            return { items: found?.resourceTemplates ?? [], nextCursor: found?.nextCursor };
          },
          page,
          async (template) => {
            const { uriTemplate } = template;
            const asked = { ...unseen('list', uriTemplate), template: true };
            return (await decisions.allows(asked, ctx)) ? template : undefined;
          },
          ctx,
        );
        return { resourceTemplates: items, nextCursor };
      },

      complete: (request, ctx) => complete(request, asking(request.uriTemplate, ctx)),

      watch: (uri, onChange, ctx) => likeMissing(watch(uri, onChange, asking(uri, ctx))),

      async *search(query, ctx) {
        if (query.uri !== undefined) await likeMissing(admitted('metadata', query.uri, asking(query.uri, ctx)));
        const operation = query.pattern === undefined ? 'list' : 'read';
        let last: { readonly uri: string; readonly allowed: boolean } | undefined;
        for await (const match of inner.search?.(query, withoutUnseenMounts(policy, asking(query.uri, ctx))) ?? []) {
          if (last?.uri !== match.uri) last = { uri: match.uri, allowed: await views.may(operation, match.uri, ctx) };
          if (last.allowed) yield match;
        }
      },
    });
  };
}
