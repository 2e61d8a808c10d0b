/**
 * Joins several providers into one tree. Only `published-uris.ts` and `mounts/resolver.ts` know prefixes: a mount named `docs`
 * publishes `docs+file:///guide/intro.md`, which is its name, `+`, and the provider's own URI. A published URI is split at the
 * first `+`. This works for opaque URIs and templates too, and depends on nothing but the mount and the URI (CB-1).
 */

import type { Resource, ResourceTemplate } from '../protocol/resources.ts';
import { type AgainMethods, createOrigins, isRepeatable, markRepeatable, type Origins, withAgain } from './again.ts';
import { closeBodies, type ResourceBody } from './body.ts';
import { mapInPieces } from './breaks.ts';
import type { Context } from './context.ts';
import { invalid, notFound, ResourceError } from './errors.ts';
import { oncePerKept } from './kept.ts';
import { type ListSource, pageAcross, type SourcePage } from './lists/across.ts';
import type { Mount } from './mounts/mount.ts';
import { ANY_SCHEME, isPrefixed, publishUri } from './mounts/published-uris.ts';
import { publishError, renameBody, renameResource } from './mounts/renamed.ts';
import { createResolver, type Resolved } from './mounts/resolver.ts';
import { publishAsking, publishQuestions } from './mounts/rewriting.ts';
import { searchMounts } from './mounts/search.ts';
import type { ChangeEvent, Page, ProviderFeatures, ResourcePage, ResourceProvider } from './provider.ts';

export { ANY_SCHEME, publishUri } from './mounts/published-uris.ts';

const MOUNT_NAME = /^[a-z][a-z0-9.-]*$/;

/** The mount under which Vitrine publishes its own state: `vitrine+state:///subscriptions`. */
export const STATE_MOUNT = 'vitrine';

/** The most characters of a mount name. */
export const MAX_MOUNT_NAME_LENGTH = 64;

/** Returns the reason why `name` cannot name a mount, or undefined when it can. */
export function mountNameProblem(name: string): string | undefined {
  if (name.length > MAX_MOUNT_NAME_LENGTH) return `A mount name has at most ${MAX_MOUNT_NAME_LENGTH} characters`;
  if (MOUNT_NAME.test(name)) return undefined;
  return 'A mount name starts with a lower-case letter and goes on with a-z, 0-9, "-" and "."';
}

/**
 * Returns one provider over all mounts, in the given order.
 * @param replaceable whether the mounts may be replaced later: then the lists of the provider may change even if no mount can
 *   watch
 * @throws ResourceError `invalid` for a bad or repeated name, or when two mounts would publish the same URIs
 */
export function mountTree(
  mounts: readonly Mount[],
  { resolve } = createResolver(mounts),
  replaceable = false,
): ResourceProvider {
  assertUnambiguous(mounts);
  const origins = new Map<Mount, Origins>(mounts.map((mount) => [mount, createOrigins(mount.provider)]));

  /** @throws ResourceError `not-found` */
  function route(published: string): Resolved {
    const found = resolve(published);
    if (found === undefined) throw notFound(published);
    return found;
  }

  /**
   * Whether a published URI leads to the mount. One without a prefix may look like a URI of another mount, and would then lead to
   * that mount and fall under its rules.
   */
  const isOf = (mount: Mount, published: string): boolean => isPrefixed(mount) || resolve(published)?.mount === mount;

  /** Removes entries whose URIs would lead to another mount, or to none. */
  function reachable<T>(mount: Mount, listed: readonly T[], uriOf: (each: T) => string, ctx: Context): readonly T[] {
    if (isPrefixed(mount)) return listed;
    return listed.filter((each) => {
      const uri = uriOf(each);
      if (isOf(mount, uri)) return true;
      ctx.log.warn('left out: its URI is not one of its mount; give the mount a prefix', { mount: mount.name, uri });
      const reason = 'A URI is left out: without a prefix it leads to another mount';
      ctx.notes?.missing({ mount: mount.name, reason, entry: uri });
      return false;
    });
  }

  const publishing = new Map(
    mounts.map((mount) => [mount, oncePerKept((each: Resource) => publish(mount, each))] as const),
  );

  function reachableResources(mount: Mount, listed: readonly Resource[], ctx: Context): readonly Resource[] {
    const found = reachable(mount, listed, (each) => each.uri, ctx);
    const published = isPrefixed(mount) ? publishing.get(mount) : undefined;
    return published === undefined ? found : found.map(published);
  }

  /** Runs one operation on the mount of a URI; an error names the published URI. */
  async function on<T>(
    published: string,
    ctx: Context,
    run: (mount: Mount, native: string, ctx: Context) => Promise<T>,
  ): Promise<T> {
    const { mount, native } = route(published);
    try {
      return await run(mount, native, publishAsking(mount, within(mount, ctx)));
    } catch (error) {
      throw error instanceof ResourceError ? publishQuestions(mount, error.withUri(published)) : error;
    }
  }

  /** Returns the mounts as sources of one list; an error of a mount names the published URI. */
  const sources = <T>(list: (mount: Mount, page: Page, ctx: Context) => Promise<SourcePage<T>>): ListSource<T>[] =>
    mounts
      .filter(({ listed }) => listed !== false)
      .map((mount) => ({
        name: mount.name,
        remote: mount.provider.features.remote === true,
        async list(page, ctx) {
          try {
            return await list(mount, page, within(mount, ctx));
          } catch (error) {
            throw publishError(mount, error);
          }
        },
      }));
  /** Lists the roots of all mounts, and records the roots of each mount in `taken`. */
  const rootsInto = (taken: TakenRoots[]) =>
    sources(async (mount, page, ctx) => {
      const own: TakenRoots = { mount, want: page, page: undefined };
      taken.push(own);
      own.page = await mount.provider.list(undefined, page, ctx);
      const { resources, ...rest } = own.page;
      return { ...rest, items: reachableResources(mount, resources, ctx) };
    });
  /** The roots of single mounts from which each list of all roots was made. */
  const rootsOf = new WeakMap<ResourcePage, readonly TakenRoots[]>();
  const templates = sources(async (mount, page, ctx) => {
    const result = await mount.provider.listTemplates?.(page, ctx);
    const listed = reachable(mount, result?.resourceTemplates ?? [], (each) => each.uriTemplate, ctx);
    return { items: listed.map((each) => publishTemplate(mount, each)), nextCursor: result?.nextCursor };
  });

  const watchAll = async (onChange: (event: ChangeEvent) => void, ctx: Context): Promise<AsyncDisposable> => {
    const opening = mounts.map(async (mount) => mount.provider.watch?.(undefined, onChange, ctx));
    const opened = await Promise.allSettled(opening);
    const handles = opened.flatMap((result) => (result.status === 'fulfilled' && result.value ? [result.value] : []));
    const dispose = async (): Promise<void> => {
      await Promise.allSettled(handles.map((handle) => handle[Symbol.asyncDispose]()));
    };
    const failed = opened.find((result) => result.status === 'rejected');
    if (failed !== undefined) {
      await dispose();
      throw failed.reason;
    }
    return { [Symbol.asyncDispose]: dispose };
  };

  /** Bodies of a mount without a prefix are passed on unchanged. */
  const askedAgain = new Map<Mount, AgainMethods>(
    [...origins].map(([mount, made]) => [mount, isPrefixed(mount) ? made : mount.provider]),
  );

  const again: NonNullable<ResourceProvider['again']> = (bodies, uri, want, ctx) => {
    const found = resolve(uri);
    if (found === undefined) return false;
    const { mount, native } = found;
    return askedAgain.get(mount)?.again?.(bodies, native, want, within(mount, ctx)) === true;
  };

  const areThere = ({ mount, page, want }: TakenRoots, ctx: Context): boolean =>
    page !== undefined && mount.provider.listAgain?.(page, undefined, want, within(mount, ctx)) === true;

  const listAgain: NonNullable<ResourceProvider['listAgain']> = (page, uri, want, ctx) => {
    if (uri === undefined) return rootsOf.get(page)?.every((each) => areThere(each, ctx)) === true;
    const found = resolve(uri);
    return (
      found !== undefined &&
      origins.get(found.mount)?.listAgain(page, found.native, want, within(found.mount, ctx)) === true
    );
  };

  const provider: ResourceProvider = {
    name: 'mounts',
    features: featuresOf(mounts, replaceable),

    async list(uri, page, ctx) {
      if (uri === undefined) {
        const taken: TakenRoots[] = [];
        const { items, ...rest } = await pageAcross(rootsInto(taken), page, ctx);
        const roots: ResourcePage = { ...rest, resources: items };
        if (!taken.every(({ page: given }) => given !== undefined && isRepeatable(given))) return roots;
        rootsOf.set(roots, taken);
        return markRepeatable(roots);
      }
      return on(uri, ctx, async (mount, native, noted) => {
        const result = await mount.provider.list(native, page, noted);
        const listed = { ...result, resources: reachableResources(mount, result.resources, noted) };
        return origins.get(mount)?.made(listed, result) ?? listed;
      });
    },

    metadata: (uri, ctx) =>
      on(uri, ctx, async (mount, native, noted) => {
        const resource = publish(mount, await mount.provider.metadata(native, noted));
        return isOf(mount, resource.uri) ? resource : { ...resource, uri };
      }),

    read: (uri, want, ctx) =>
      on(uri, ctx, async (mount, native, noted) => {
        const bodies = await mount.provider.read(native, want, noted);
        if (isPrefixed(mount)) {
          const published = await mapInPieces(bodies, (body) => publishBody(mount, body));
          return origins.get(mount)?.made(published, bodies) ?? published;
        }
        const strays = bodies.filter((body) => !isOf(mount, body.resource.uri));
        if (strays.length === 0) return bodies;
        // The requested resource keeps the URI under which it was requested.
        const kept = bodies.flatMap((body) => {
          if (!strays.includes(body)) return body;
          return body.child === true ? [] : renamed(body, uri);
        });
        reachable(mount, strays, ({ resource }) => resource.uri, noted);
        await closeBodies(strays.filter(({ child }) => child === true));
        return kept;
      }),

    async listTemplates(page, ctx) {
      const { items, nextCursor } = await pageAcross(templates, page, ctx);
      return { resourceTemplates: items, nextCursor };
    },

    complete: (request, ctx) =>
      on(request.uriTemplate, ctx, async (mount, native, noted) => {
        if (mount.provider.complete === undefined) return { values: [], hasMore: false };
        return mount.provider.complete({ ...request, uriTemplate: native }, noted);
      }),

    watch(uri, onChange, ctx) {
      if (uri === undefined) return watchAll(onChange, ctx);
      return on(uri, ctx, async (mount, native) => {
        if (mount.provider.watch === undefined) throw invalid('This resource cannot be subscribed to', uri);
        const published = (event: ChangeEvent): void => {
          if (event.kind !== 'updated') {
            onChange(event);
            return;
          }
          const changed = publishUri(mount, event.uri);
          if (isOf(mount, changed)) onChange({ ...event, uri: changed });
        };
        return mount.provider.watch(native, published, ctx);
      });
    },

    isListed: (uri, ctx) =>
      on(uri, ctx, async (mount, native, noted) => (await mount.provider.isListed?.(native, noted)) === true),

    search: (query, ctx) => searchMounts({ mounts, route, isOf, within }, query, ctx),

    async close() {
      await Promise.allSettled(mounts.map(async (mount) => mount.provider.close?.()));
    },
  };
  return withAgain(provider, { again, listAgain });
}

/** A page of one mount's roots, unchanged. `page` is undefined if the mount gave none, for example because it was skipped. */
interface TakenRoots {
  readonly mount: Mount;
  readonly want: Page;
  page: ResourcePage | undefined;
}

const renamed = (body: ResourceBody, uri: string): ResourceBody => ({
  ...body,
  resource: { ...body.resource, uri },
  ...(body.item !== undefined && { item: { ...body.item, uri } }),
});

const publishBody = (mount: Mount, body: ResourceBody): ResourceBody =>
  renameBody(body, (native) => publishUri(mount, native));

const publish = (mount: Mount, resource: Resource): Resource =>
  isPrefixed(mount) ? renameResource(resource, (native) => publishUri(mount, native)) : resource;

const publishTemplate = (mount: Mount, template: ResourceTemplate): ResourceTemplate =>
  isPrefixed(mount) ? { ...template, uriTemplate: publishUri(mount, template.uriTemplate) } : template;

/** Makes the context of an operation within a mount. Where the mount does not set freshness, the server's default applies. */
function within(mount: Mount, ctx: Context): Context {
  if (mount.provider.features.hints !== true) ctx.notes?.plain();
  const { may } = ctx;
  if (may === undefined) return ctx;
  // A provider whose content never includes other resources needs no `may`.
  if (mount.provider.features.gathers !== true) return { ...ctx, may: undefined };
  return { ...ctx, may: (operation, native) => may(operation, publishUri(mount, native)) };
}

/** Looks up each feature on use: a mounted server's features are known only once it is connected. */
function featuresOf(mounts: readonly Mount[], replaceable: boolean): ProviderFeatures {
  const some = (pick: (features: ProviderFeatures) => boolean): boolean =>
    mounts.some((mount) => pick(mount.provider.features));
  return {
    get resources() {
      return mounts.some(({ listed, provider }) => listed !== false && provider.features.resources !== false);
    },
    get schemes() {
      return [...new Set(mounts.flatMap(publishedSchemes))];
    },
    get watch() {
      return replaceable || some((features) => features.watch);
    },
    get watchesResources() {
      return some((features) => features.watch && features.watchesResources !== false);
    },
    get templates() {
      return some((features) => features.templates);
    },
    get completion() {
      return some((features) => features.completion);
    },
    // Vitrine reads and searches the resources of providers that cannot search.
    search: true,
    get ranges() {
      return mounts.every((mount) => mount.provider.features.ranges);
    },
    get roots() {
      return some((features) => features.roots === true);
    },
    get apart() {
      return some((features) => features.apart === true);
    },
    get gathers() {
      return some((features) => features.gathers === true);
    },
  };
}

const publishedSchemes = (mount: Mount): readonly string[] =>
  mount.provider.features.schemes.map((scheme) =>
    isPrefixed(mount) && scheme !== 'ui' && scheme !== ANY_SCHEME ? `${mount.name}+${scheme}` : scheme,
  );

function assertUnambiguous(mounts: readonly Mount[]): void {
  const names = new Set<string>();
  const owners = new Map<string, string>();
  for (const { name } of mounts) {
    const problem = mountNameProblem(name);
    if (problem !== undefined) throw invalid(`Mount "${name}": ${problem}`);
    if (names.has(name)) throw invalid(`Two mounts are named "${name}"; rename one`);
    names.add(name);
  }
  for (const mount of mounts.filter((each) => !isPrefixed(each))) {
    for (const scheme of mount.provider.features.schemes) {
      const owner = owners.get(scheme);
      if (owner !== undefined) {
        throw invalid(
          `Mounts "${owner}" and "${mount.name}" both publish ${scheme}: URIs; remove "prefix: none" from one`,
        );
      }
      const head = scheme.split('+', 1)[0] ?? '';
      if (scheme.includes('+') && mounts.some((each) => isPrefixed(each) && each.name === head)) {
        throw invalid(
          `The scheme ${scheme}: of mount "${mount.name}" looks like a prefix of the mount "${head}"; rename that mount`,
        );
      }
      owners.set(scheme, mount.name);
    }
  }
  const any = owners.get(ANY_SCHEME);
  const other = mounts.find((mount) => !isPrefixed(mount) && mount.name !== any);
  if (any !== undefined && other !== undefined) {
    throw invalid(
      `Mounts "${any}" and "${other.name}" are both published without a prefix, and "${any}" may have URIs of any ` +
        'scheme; remove "prefix: none" from one',
    );
  }
}
