/**
 * The roots layer bounds a folder of this machine by the client's roots, too (SEC-ROOT-2). It shows everything under a root,
 * and the folders on the way to it. As long as the roots are unknown, it shows only the folder itself.
 *
 * The layer goes around the provider of one mount. It decides by the names in a URI, so the provider must not follow symbolic
 * links, which could lead from an allowed name to another place.
 *
 * @example
 * const work = rootsLayer({ folder: await realpath('./work') })(await filesProvider({ path: './work', symlinks: false }));
 */

import { RootsNeeded } from '../../core/asking/needed.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import { mapEntries } from '../../core/lists/entries.ts';
import type {
  CompletionRequest,
  CompletionValues,
  Page,
  ResourcePage,
  ResourceProvider,
  SearchMatch,
  SearchQuery,
} from '../../core/provider.ts';
import { parseTreeUri, treeUri } from '../../core/uri.ts';
import type { Resource } from '../../protocol/resources.ts';
import { type Bounds, boundsBelow, boundsOf, namesBelow, type Place, placeOf } from './bounds.ts';

export interface RootsOptions {
  /** Canonical path of the folder that the provider serves. */
  readonly folder: string;
}

interface Located {
  readonly segments: readonly string[];
  readonly place: Exclude<Place, 'outside'>;
  readonly bounds: Bounds;
}

export function rootsLayer({ folder }: RootsOptions): Layer {
  // The places of a client's roots are looked up once for each list of roots: when roots change, the list is a new object.
  const byRoots = new WeakMap<readonly string[], Promise<Bounds>>();
  const boundsFor = (roots: readonly string[], ctx: Context): Promise<Bounds> => {
    const bounds = byRoots.get(roots) ?? boundsOf(folder, roots, ctx.log);
    byRoots.set(roots, bounds);
    return bounds;
  };
  return (inner) => bounded(inner, boundsFor);
}

function bounded(
  inner: ResourceProvider,
  boundsFor: (roots: readonly string[], ctx: Context) => Promise<Bounds>,
): ResourceProvider {
  const scheme = inner.features.schemes[0] ?? 'file';

  /** @throws RootsNeeded; ResourceError `denied` for a URI outside of the roots, whether or not it exists */
  async function locate(uri: string, ctx: Context): Promise<Located> {
    const { segments } = parseTreeUri(uri, scheme);
    if (ctx.roots === undefined) throw new RootsNeeded(uri);
    const bounds = await boundsFor(ctx.roots, ctx);
    const place = placeOf(bounds, segments);
    if (place === 'outside')
      throw new ResourceError('denied', "This lies outside of the client's roots, which bound what is shown here", {
        uri,
      });
    return { segments, place, bounds };
  }

  /** Lists a container on the way to a root: only the entries that lead to a root, which are few. */
  async function listWay({ segments, bounds }: Located, page: Page, ctx: Context): Promise<ResourcePage> {
    const { cursor } = page;
    const names = namesBelow(bounds, segments).filter((name) => cursor === undefined || name > cursor);
    const shown = names.slice(0, page.limit);
    const described = await Promise.all(shown.map((name) => describe(bounds, [...segments, name], ctx)));
    const more = names.length > shown.length;
    return {
      resources: described.filter((resource) => resource !== undefined),
      nextCursor: more ? shown.at(-1) : undefined,
    };
  }

  /** Describes one entry; undefined if it is denied or missing, such as a root of the client that does not exist yet. */
  async function describe(bounds: Bounds, segments: readonly string[], ctx: Context): Promise<Resource | undefined> {
    try {
      const resource = await inner.metadata(treeUri(scheme, segments), ctx);
      return placeOf(bounds, segments) === 'within' ? resource : asWay(resource);
    } catch (error) {
      if (error instanceof ResourceError && (error.code === 'not-found' || error.code === 'denied')) return undefined;
      throw error;
    }
  }

  async function complete(request: CompletionRequest, ctx: Context): Promise<CompletionValues> {
    const completed = (await inner.complete?.(request, ctx)) ?? NO_VALUES;
    if (ctx.roots === undefined) return NO_VALUES;
    const bounds = await boundsFor(ctx.roots, ctx);
    const folder = folderOf(request.value, scheme);
    const place = folder === undefined ? 'outside' : placeOf(bounds, folder);
    if (folder === undefined || place === 'outside') return NO_VALUES;
    if (place === 'within') return completed;
    const values: string[] = [];
    for (const name of namesBelow(bounds, folder)) {
      const path = [...folder, name];
      if (!typedPath(path).startsWith(request.value)) continue;
      const resource = await describe(bounds, path, ctx);
      if (resource === undefined) continue;
      if (values.length >= request.limit) return { values, hasMore: true };
      values.push(resource.capabilities?.list ? `${typedPath(path)}/` : typedPath(path));
    }
    return { values, hasMore: false, total: values.length };
  }

  async function* search(query: SearchQuery, ctx: Context): AsyncIterable<SearchMatch> {
    const { segments, place, bounds } = await locate(query.uri ?? treeUri(scheme, []), ctx);
    if (inner.search === undefined) return;
    if (place === 'within') {
      yield* inner.search(query, ctx);
    } else if (query.glob?.includes('/')) {
      // A glob with a slash is relative to the URI of the search, which must therefore stay.
      for await (const match of inner.search(query, ctx)) {
        if (placeOf(bounds, parseTreeUri(match.uri, scheme).segments) === 'within') yield match;
      }
    } else {
      for (const bound of boundsBelow(bounds, segments)) {
        if ((await describe(bounds, bound, ctx)) === undefined) continue;
        yield* inner.search({ ...query, uri: treeUri(scheme, bound) }, ctx);
      }
    }
  }

  return wrapProvider(inner, {
    features: { ...inner.features, roots: true },

    async list(uri, page, ctx) {
      if (uri !== undefined) {
        const located = await locate(uri, ctx);
        return located.place === 'within' ? inner.list(uri, page, ctx) : listWay(located, page, ctx);
      }
      const { resources, ...rest } = await inner.list(uri, page, ctx);
      if (ctx.roots === undefined) return { ...rest, resources: mapEntries(resources, asClosed, ctx) };
      const bounds = await boundsFor(ctx.roots, ctx);
      return { ...rest, resources: placeOf(bounds, []) === 'within' ? resources : mapEntries(resources, asWay, ctx) };
    },

    async metadata(uri, ctx) {
      const isFolder = parseTreeUri(uri, scheme).segments.length === 0;
      if (isFolder && ctx.roots === undefined) return asClosed(await inner.metadata(uri, ctx));
      const { place } = await locate(uri, ctx);
      const resource = await inner.metadata(uri, ctx);
      return place === 'within' ? resource : asWay(resource);
    },

    async read(uri, want, ctx) {
      const { place } = await locate(uri, ctx);
      if (place === 'way') throw invalid("This folder only leads to the client's roots; list it", uri);
      return inner.read(uri, want, ctx);
    },

    complete,
    search,

    // The whole list may be watched without a check, since its changes do not tell which entry changed.
    async watch(uri, onChange, ctx) {
      if (inner.watch === undefined) throw invalid('This resource cannot be subscribed to', uri);
      if (uri !== undefined && (await locate(uri, ctx)).place === 'way')
        throw invalid("This folder only leads to the client's roots; subscribe to what lies under one", uri);
      return inner.watch(uri, onChange, ctx);
    },
  });
}

const NO_VALUES: CompletionValues = { values: [], hasMore: false, total: 0 };

/** A container on the way to a root can be listed, but not subscribed to: most of it lies outside of the roots. */
const asWay = (resource: Resource): Resource => ({
  ...resource,
  capabilities: { list: resource.capabilities?.list === true, subscribe: false },
});

/** The folder itself, while the client's roots are unknown: it can be neither listed nor subscribed to (2093-3). */
const asClosed = (resource: Resource): Resource => ({ ...resource, capabilities: { list: false, subscribe: false } });

/** Writes a path as a value of the template `{+path}`, which copies `%`, `?` and `#` as they are. */
const typedPath = (segments: readonly string[]): string =>
  segments.map((name) => name.replace(/[%?#]/g, encodeURIComponent)).join('/');

/** The folder of a path that is being typed; undefined if the path is not valid. */
function folderOf(value: string, scheme: string): readonly string[] | undefined {
  try {
    const typed = value.slice(0, value.lastIndexOf('/') + 1).replace(/%(?![0-9A-Fa-f]{2})/g, '%25');
    return parseTreeUri(`${scheme}:///${typed}`, scheme).segments;
  } catch {
    return undefined;
  }
}
