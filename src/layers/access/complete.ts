/** Guards completion: a value is offered only if the caller may list its resource. Totals do not count hidden values. */
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { CompletionRequest, CompletionValues, ResourceProvider } from '../../core/provider.ts';
import { parseUriTemplate, type UriTemplate, UriTemplateError } from '../../core/uri-template.ts';
import type { Views } from './views.ts';

type Complete = NonNullable<ResourceProvider['complete']>;

const NONE: CompletionValues = { values: [], hasMore: false };

export function guardedComplete(inner: ResourceProvider, views: Views): Complete {
  const { policy, decisions, about, unseen, described } = views;

  /** Decides by the resource's own name, since a value may lead to the resource under another name. */
  async function leadsToSeen(uri: string, ctx: Context): Promise<boolean> {
    const resource =
      decisions.featuresOf(uri)?.remote === true && !policy.attributes ? undefined : await found(uri, ctx);
    return decisions.allows(resource === undefined ? unseen('list', uri) : about('list', resource), ctx);
  }

  const found = (uri: string, ctx: Context) => described(uri, { ...ctx, may: undefined }).catch(() => undefined);

  return async (request, ctx) => {
    const { uriTemplate } = request;
    await decisions.enforce({ ...unseen('complete', uriTemplate), template: true }, ctx);
    const completed = (await inner.complete?.(request, ctx)) ?? NONE;
    if (policy.everything?.(ctx.principal) === true) return completed;
    const values: string[] = [];
    const expand = expanderOf(request);
    if (expand === undefined) {
      // The URI depends on values that are not known yet. A provider that includes others has already checked that each
      // possible URI may be listed.
      const area = { operation: 'list', mount: unseen('list', uriTemplate).mount } as const;
      const gathers = decisions.featuresOf(uriTemplate)?.gathers === true;
      if (gathers || policy.couldWithhold?.(ctx.principal, area) === false) values.push(...completed.values);
    } else {
      for (const value of completed.values) if (await leadsToSeen(expand(value), ctx)) values.push(value);
    }
    const { total: _total, ...rest } = completed;
    return rest.others === undefined ? { ...rest, values } : { ...rest, values, others: withoutTotal(rest.others) };
  };
}

/** Returns a function from a value to its URI; undefined while other variables have no value. */
function expanderOf({ uriTemplate, variable, known }: CompletionRequest): ((value: string) => string) | undefined {
  const template = templateOf(uriTemplate);
  const whole = template.variables.every((name) => name === variable || Object.hasOwn(known, name));
  return whole ? (value) => template.expand({ ...known, [variable]: value }) : undefined;
}

/** @throws ResourceError `invalid` for an invalid template: the URIs of its values are unknown, so none may be offered */
function templateOf(uriTemplate: string): UriTemplate {
  try {
    return parseUriTemplate(uriTemplate);
  } catch (error) {
    if (error instanceof UriTemplateError) throw invalid('There is no such template', uriTemplate);
    throw error;
  }
}

type Others = NonNullable<CompletionValues['others']>;

function withoutTotal({ completion, result }: Others): Others {
  const { total: _total, ...rest } = completion as { readonly total?: unknown };
  return { completion: rest, result };
}
