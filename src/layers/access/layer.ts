/** Around the provider: nothing is listed, described, read, watched, completed or found that may not be (SEC-RES-2). */
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { fillPage } from '../../core/filtered-list.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import type { CompletionRequest, CompletionValues, Page } from '../../core/provider.ts';
import { parseUriTemplate, type UriTemplate, UriTemplateError } from '../../core/uri-template.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Decisions } from './decisions.ts';
import { guardedRead } from './read.ts';
import { withoutUnseenMounts } from './sight.ts';
import { createViews, type MountOf } from './views.ts';

export function accessLayer(decisions: Decisions, mountOf: MountOf = () => undefined): Layer {
  const { policy } = decisions;

  return (inner) => {
    const views = createViews(inner, decisions, mountOf);
    const { about, unseen, described, admitted, carryOut, shown } = views;

    async function keepListed(resource: Resource, ctx: Context): Promise<Resource | undefined> {
      return (await decisions.allows(about('list', resource), ctx)) ? shown(resource, ctx) : undefined;
    }

    return wrapProvider(inner, {
      async list(uri, page, ctx) {
        if (policy.everything?.(ctx.principal) === true) return inner.list(uri, page, ctx);
        if (uri !== undefined) await admitted('list', uri, ctx);
        const seen = withoutUnseenMounts(policy, ctx);
        const { items, ...rest } = await fillPage(
          async (wanted: Page, quietly) => {
            const { resources, ...more } = await inner.list(uri, wanted, quietly ? { ...ctx, notes: undefined } : seen);
            return { ...more, items: resources };
          },
          page,
          (resource) => keepListed(resource, ctx),
        );
        return { ...rest, resources: items };
      },

      async metadata(uri, ctx) {
        const { purpose } = ctx;
        if (purpose === undefined) return shown(await admitted('metadata', uri, ctx), ctx);
        const resource = await described(uri, ctx);
        const asked = about(purpose, resource);
        const decision = await decisions.decide(asked, ctx);
        // What it is wanted for asks by itself.
        if (decision.effect !== 'ask') carryOut(decision, asked, uri, ctx);
        return shown(resource, ctx);
      },

      read: guardedRead(inner, views),

      async listTemplates(page, ctx) {
        if (policy.everything?.(ctx.principal) === true) {
          return (await inner.listTemplates?.(page, ctx)) ?? { resourceTemplates: [] };
        }
        const seen = withoutUnseenMounts(policy, ctx);
        const { items, nextCursor } = await fillPage(
          async (wanted, quietly) => {
            const listed = await inner.listTemplates?.(wanted, quietly ? { ...ctx, notes: undefined } : seen);
            return { items: listed?.resourceTemplates ?? [], nextCursor: listed?.nextCursor };
          },
          page,
          async (template) => {
            const { uriTemplate } = template;
            const asked = { ...unseen('list', uriTemplate), template: true };
            return (await decisions.allows(asked, ctx)) ? template : undefined;
          },
        );
        return { resourceTemplates: items, nextCursor };
      },

      async complete(request, ctx) {
        await decisions.enforce({ ...unseen('complete', request.uriTemplate), template: true }, ctx);
        const completed = (await inner.complete?.(request, ctx)) ?? { values: [], hasMore: false };
        return seenValues(completed, request, (uri) => mayBeSeen(uri, ctx));
      },

      async watch(uri, onChange, ctx) {
        if (uri === undefined) return (await inner.watch?.(uri, onChange, ctx)) ?? NOTHING_WATCHED;
        const known = await described(uri, ctx).catch((error: unknown) => {
          // What does not exist yet may be watched.
          if (error instanceof ResourceError && error.code === 'not-found') return undefined;
          throw error;
        });
        const asked = known === undefined ? unseen('subscribe', uri) : about('subscribe', known);
        const decision = await decisions.decide(asked, ctx);
        if (decision.effect === 'hide') {
          ctx.decided?.(decision);
          return NOTHING_WATCHED;
        }
        carryOut(decision, asked, uri, ctx);
        const told: typeof onChange = (event) => {
          // Under another spelling something may have come into being that is not for this principal.
          const mayKnow =
            event.kind === 'list-changed' || policy.attributes || decisions.allows(unseen('subscribe', event.uri), ctx);
          if (mayKnow instanceof Promise) void mayKnow.then((allowed) => allowed && onChange(event));
          else if (mayKnow) onChange(event);
        };
        return (await inner.watch?.(uri, told, ctx)) ?? NOTHING_WATCHED;
      },

      async *search(query, ctx) {
        if (query.uri !== undefined) await admitted('metadata', query.uri, ctx);
        const operation = query.pattern === undefined ? 'list' : 'read';
        let last: { readonly uri: string; readonly allowed: boolean } | undefined;
        for await (const match of inner.search?.(query, ctx) ?? []) {
          if (last?.uri !== match.uri) {
            const asked = policy.attributes
              ? await described(match.uri, ctx).then(
                  (resource) => about(operation, resource),
                  () => undefined,
                )
              : unseen(operation, match.uri);
            last = { uri: match.uri, allowed: asked !== undefined && (await decisions.allows(asked, ctx)) };
          }
          if (last.allowed) yield match;
        }
      },
    });

    /** Whether a completion may tell that this is there. */
    async function mayBeSeen(uri: string, ctx: Context): Promise<boolean> {
      if (!policy.attributes) return decisions.allows(unseen('list', uri), ctx);
      const resource = await described(uri, ctx).catch(() => undefined);
      return decisions.allows(resource === undefined ? unseen('list', uri) : about('list', resource), ctx);
    }
  };
}

const NOTHING_WATCHED: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };

/** Values that lead to something that may be seen, as far as they say where they lead; nobody counts the others. */
async function seenValues(
  completed: CompletionValues,
  { uriTemplate, variable, known }: CompletionRequest,
  mayBeSeen: (uri: string) => Promise<boolean>,
): Promise<CompletionValues> {
  const template = templateOf(uriTemplate);
  const whole = template.variables.every((name) => name === variable || Object.hasOwn(known, name));
  if (!whole) return completed;
  const values: string[] = [];
  for (const value of completed.values) {
    if (await mayBeSeen(template.expand({ ...known, [variable]: value }))) values.push(value);
  }
  const all = values.length === completed.values.length;
  if (all && !completed.hasMore) return completed;
  const { total: _total, ...rest } = completed;
  return { ...rest, values, ...(!rest.hasMore && { total: values.length }) };
}

/** @throws ResourceError `invalid` for what is none: where its values lead cannot be said, so nobody gets any */
function templateOf(uriTemplate: string): UriTemplate {
  try {
    return parseUriTemplate(uriTemplate);
  } catch (error) {
    if (error instanceof UriTemplateError) throw invalid('There is no such template', uriTemplate);
    throw error;
  }
}
