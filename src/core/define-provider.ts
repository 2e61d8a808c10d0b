/** Makes a provider of as little as a list and a read, and fills in the rest of the interface. */
import type { DefinedTemplate, ProviderDefinition } from './define-provider/definition.ts';
import { createFinder, isContainer } from './define-provider/find.ts';
import { readDefined } from './define-provider/read.ts';
import { completeTemplate, parseTemplates, templatePage } from './define-provider/templates.ts';
import { createWatching } from './define-provider/watch.ts';
import { notListable } from './errors.ts';
import type { ResourceProvider } from './provider.ts';

export type {
  CompleteVariable,
  DefinedContent,
  DefinedFacts,
  DefinedPage,
  DefinedResource,
  DefinedTemplate,
  DefinedVariables,
  ProviderDefinition,
  TellChange,
} from './define-provider/definition.ts';

/**
 * Defines a provider. Its features follow from the definition: watching from `watch`, templates and their completion from
 * `templates`. For full control, implement `ResourceProvider` itself. `providerContract` of `vitrine/testing` checks that either
 * does what a provider has to do.
 *
 * @throws UriTemplateError for an invalid URI template
 * @example
 * const poems = new Map([['poem:rain', 'Rain again'], ['poem:snow', 'No snow yet']]);
 * const provider = defineProvider({
 *   scheme: 'poem',
 *   list: () => [...poems.keys()].map((uri) => ({ uri, mimeType: 'text/plain' })),
 *   read: (uri) => poems.get(uri),
 * });
 */
export function defineProvider(definition: ProviderDefinition): ResourceProvider {
  const schemes = [definition.scheme].flat();
  const named = { ...definition, name: definition.name ?? schemes[0] ?? 'provider' };
  const defined: readonly DefinedTemplate[] = named.templates ?? [];
  const templates = parseTemplates(defined);
  const finder = createFinder(named, templates);
  const watching = named.watch === undefined ? undefined : createWatching(named.watch);
  const { search, heard } = named;

  return {
    name: named.name,
    features: {
      schemes,
      watch: watching !== undefined,
      templates: templates.length > 0,
      completion: defined.some((template) => template.complete !== undefined),
      search: search !== undefined,
      ranges: named.ranges ?? false,
    },

    async list(uri, page, ctx) {
      ctx.signal.throwIfAborted();
      if (uri === undefined) return finder.page(undefined, page, ctx);
      const { resource } = await finder.find(uri, ctx);
      if (!isContainer(resource)) throw notListable(uri);
      return finder.page(resource.uri, page, ctx);
    },

    metadata: async (uri, ctx) => (await finder.find(uri, ctx)).resource,
    read: (uri, want, ctx) => readDefined(named, finder, uri, want, ctx),

    ...(templates.length > 0 && {
      listTemplates: async (page) => templatePage(templates, page),
      complete: (request, ctx) => completeTemplate(templates, request, ctx),
    }),
    ...(watching !== undefined && { watch: (uri, onChange) => watching.add(uri, onChange) }),
    ...(watching !== undefined &&
      heard !== undefined && { heard: (event) => heard(event.kind === 'updated' ? event.uri : undefined) }),
    ...(search !== undefined && { search: (query, ctx) => search(query, ctx) }),

    async close() {
      await watching?.close();
      await named.close?.();
    },
  } satisfies ResourceProvider;
}
