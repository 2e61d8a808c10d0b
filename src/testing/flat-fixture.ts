/** A provider without a tree: its URIs are opaque, and all of its resources are roots without children. */
import { bytesOf } from '../core/body.ts';
import { invalid, notFound, notListable } from '../core/errors.ts';
import type { ResourceProvider } from '../core/provider.ts';
import { parseUriTemplate } from '../core/uri-template.ts';
import type { Resource } from '../protocol/resources.ts';
import type { Leaves, ProviderFixture } from './fixture.ts';

export interface FlatOptions {
  readonly name?: string;
  /** The bytes of each resource by URI, of any schemes. */
  readonly resources: ReadonlyMap<string, Uint8Array>;
  /** A template with one variable, and the values of the variable. */
  readonly template?: { readonly uriTemplate: string; readonly values: readonly string[] };
}

/** Makes the provider. It has no watch, no windows and no search. */
export function flatProvider({ name = 'flat', resources, template }: FlatOptions): ResourceProvider {
  const uris = [...resources.keys()].sort();
  const resourceOf = (uri: string): Resource => {
    const bytes = resources.get(uri);
    if (bytes === undefined) throw notFound(uri);
    return {
      uri,
      name: uri.slice(uri.indexOf(':') + 1),
      size: bytes.byteLength,
      capabilities: { list: false, subscribe: false },
    };
  };
  return {
    name,
    features: {
      schemes: [...new Set(uris.map((uri) => uri.slice(0, uri.indexOf(':')).toLowerCase()))],
      watch: false,
      templates: template !== undefined,
      completion: template !== undefined,
      search: false,
      ranges: false,
    },
    async list(uri, page, ctx) {
      ctx.signal.throwIfAborted();
      if (uri !== undefined) throw resources.has(uri) ? notListable(uri) : notFound(uri);
      const rest = uris.filter((candidate) => page.cursor === undefined || candidate > page.cursor);
      const shown = rest.slice(0, page.limit);
      return {
        resources: shown.map(resourceOf),
        nextCursor: rest.length > shown.length ? shown.at(-1) : undefined,
      };
    },
    metadata: async (uri) => resourceOf(uri),
    read: async (uri) => [{ resource: resourceOf(uri), content: bytesOf(resources.get(uri) ?? new Uint8Array()) }],
    ...(template !== undefined && {
      listTemplates: async () => ({ resourceTemplates: [{ uriTemplate: template.uriTemplate, name: 'by name' }] }),
      async complete(request) {
        if (request.uriTemplate !== template.uriTemplate) throw invalid('There is no such template');
        const values = template.values.filter((value) => value.startsWith(request.value));
        return { values: values.slice(0, request.limit), hasMore: values.length > request.limit };
      },
    }),
  };
}

/** A fixture with the leaves of a seed as `memo:` URIs, without their folders. */
export function flatFixture(
  seed: Leaves,
  wrap: (inner: ResourceProvider) => ResourceProvider = (inner) => inner,
): ProviderFixture {
  const leaves = new Map([...seed].map(([path, bytes]) => [path.slice(path.lastIndexOf('/') + 1), bytes]));
  const template = parseUriTemplate('memo:{name}');
  const uriOf = (name: string): string => template.expand({ name });
  const provider = wrap(
    flatProvider({
      resources: new Map([...leaves].map(([name, bytes]) => [uriOf(name), bytes])),
      template: { uriTemplate: template.text, values: [...leaves.keys()].sort() },
    }),
  );
  return { provider, leaves, roots: [...leaves.keys()], uriOf, close: async () => provider.close?.() };
}
