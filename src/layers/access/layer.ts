/** Around the provider: nothing is listed, described, read, watched, completed or found that may not be (SEC-RES-2). */
import type { AccessDecision } from '../../core/access.ts';
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { invalid, notFound, PeerError, ResourceError } from '../../core/errors.ts';
import { fillPage } from '../../core/filtered-list.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import type { CompletionRequest, CompletionValues, Page } from '../../core/provider.ts';
import { parseUriTemplate, type UriTemplate, UriTemplateError } from '../../core/uri-template.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Asked, Decisions } from './decisions.ts';
import { withoutUnseenMounts } from './sight.ts';
import { whenDecided } from './when-decided.ts';

type MountOf = (uri: string) => string | undefined;

export function accessLayer(decisions: Decisions, mountOf: MountOf = () => undefined): Layer {
  const { policy } = decisions;
  const hides = policy.hides !== false;
  const about = (operation: Asked['operation'], resource: Resource): Asked => ({
    operation,
    uri: resource.uri,
    mount: mountOf(resource.uri),
    resource,
  });
  const unseen = (operation: Asked['operation'], uri: string): Asked => ({ operation, uri, mount: mountOf(uri) });

  return (inner) => {
    /** @throws ResourceError `not-found` in our own words for whatever is missing */
    async function described(uri: string, ctx: Context): Promise<Resource> {
      try {
        return await inner.metadata(uri, ctx);
      } catch (error) {
        throw hides ? plainlyMissing(error, uri) : error;
      }
    }

    /** What is there under the URI, in whatever spelling, and may be used in this way. */
    async function admitted(operation: Asked['operation'], uri: string, ctx: Context): Promise<Resource> {
      const resource = await described(uri, ctx);
      const asked = about(operation, resource);
      const decision = await decisions.decide(asked, ctx);
      carryOut(decision, asked, uri, ctx);
      return resource;
    }

    function carryOut(decision: AccessDecision, asked: Asked, uri: string, ctx: Context): void {
      // What is hidden has the error of what is missing, under the name that was asked for.
      decisions.carryOut(decision, asked, ctx, {
        missing: () => notFound(uri),
        key: asked.uri ?? uri,
        question: `May this be read? ${asked.uri}`,
      });
    }

    /** The resource as this principal has it: what it can do is what may be done with it (2093-3). */
    function shown(resource: Resource, ctx: Context): Resource | Promise<Resource> {
      const { capabilities } = resource;
      if (capabilities === undefined) return resource;
      const list = capabilities.list && decisions.allows(about('list', resource), ctx);
      const subscribe = capabilities.subscribe && decisions.allows(about('subscribe', resource), ctx);
      if (typeof list === 'boolean' && typeof subscribe === 'boolean') return ableTo(resource, list, subscribe);
      return Promise.all([list, subscribe]).then((allowed) => ableTo(resource, ...allowed));
    }

    async function keepListed(resource: Resource, ctx: Context): Promise<Resource | undefined> {
      return (await decisions.allows(about('list', resource), ctx)) ? shown(resource, ctx) : undefined;
    }

    /** Undefined where it is plainly allowed: then there is nothing to wait for. */
    function unlessAllowed(uri: string, ctx: Context): unknown {
      if (policy.attributes) return admitted('read', uri, ctx);
      return whenDecided(decisions.decide(unseen('read', uri), ctx), (decision) => {
        // Anything but a plain yes is about what is really there, under its own name.
        if (decision.effect !== 'allow') return admitted('read', uri, ctx);
        ctx.decided?.(decision);
        return undefined;
      });
    }

    type Bodies = readonly ResourceBody[];

    /** The contents that may be read. What was asked for, alone, has been decided about before. */
    function keptBodies(bodies: Bodies, uri: string, ctx: Context): Bodies | Promise<Bodies> {
      const [only] = bodies;
      if (only === undefined || bodies.length > 1 || !isAskedFor(only, uri)) return keptOf(bodies, uri, ctx);
      return whenDecided(shownBody(only, ctx), (body) => (body === only ? bodies : [body]));
    }

    async function keptOf(bodies: Bodies, uri: string, ctx: Context): Promise<Bodies> {
      const kept = await Promise.all(bodies.map(async (body) => keptBody(body, uri, ctx)));
      await closeBodies(bodies.filter((_, index) => kept[index] === undefined));
      return kept.filter((body) => body !== undefined);
    }

    /** Under the name that it was allowed under: nothing else is to be decided about it. */
    const isAskedFor = ({ child, resource }: ResourceBody, uri: string): boolean =>
      child !== true && !policy.attributes && resource.uri === uri;

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
      if (isAskedFor(body, uri)) return shownBody(body, ctx);
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

      // Each read comes by here: what it seldom needs is elsewhere, since what waits holds memory for all that it may do.
      async read(uri, want, ctx) {
        const unsure = unlessAllowed(uri, ctx);
        if (unsure !== undefined) await unsure;
        let bodies: readonly ResourceBody[] = [];
        try {
          bodies = await inner.read(uri, want, ctx);
          const kept = keptBodies(bodies, uri, ctx);
          return kept instanceof Promise ? await kept : kept;
        } catch (error) {
          await closeBodies(bodies);
          throw hides ? plainlyMissing(error, uri) : error;
        }
      },

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

function ableTo(resource: Resource, list: boolean, subscribe: boolean): Resource {
  const { capabilities } = resource;
  if (capabilities === undefined || (list === capabilities.list && subscribe === capabilities.subscribe))
    return resource;
  return { ...resource, capabilities: { ...capabilities, list, subscribe } };
}

const NOTHING_WATCHED: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };

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
