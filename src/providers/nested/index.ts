/**
 * Shows files as if they were folders: `file:///pack.zip/guide/intro.md` is an entry of an archive, and
 * `file:///shop.db/customers/17` is a row of a database. Such a file is a container. It keeps its own content, and the
 * resources in it have URIs below its own. A folder can be a container, too, as a repository is: `file:///.git/HEAD/a.txt`.
 * So clients see a single tree of URIs. The outer provider has the files; each open container has an inner provider.
 */
import { createOrigins, withAgain } from '../../core/again.ts';
import { closeBodies, countedBodies, type ResourceBody } from '../../core/body.ts';
import { type Context, createContext, type May } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { renameBody, renameResource } from '../../core/mounts/renamed.ts';
import type { ChangeEvent, Page, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { parseTreeUri } from '../../core/uri.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import type { Resource } from '../../protocol/resources.ts';
import { completing } from './complete.ts';
import {
  type Container,
  containerOf,
  filesBeside,
  isFolder,
  isReally,
  isShownIn,
  kindOfName,
  outwards,
} from './container.ts';
import { foldersIn } from './folders.ts';
import type { Inner, NestedKind, Outer } from './kind.ts';
import type { Lease, Openings } from './openings.ts';
import { searchNested } from './search.ts';

export type { FilePlace, FolderPlace, Inner, NestedKind, Opening, Outer } from './kind.ts';
export { createOpenings, type Openings } from './openings.ts';

export interface NestedOptions {
  readonly outer: Outer;
  readonly kinds: readonly NestedKind[];
  /** The open containers of this provider and of the providers nested in it. */
  readonly openings: Openings;
  /**
   * Tells this provider from the others that share the openings. Default: no other one shares them, and this provider closes
   * them when it closes.
   */
  readonly key?: string;
}

export function nestedProvider({ outer, kinds, openings, key }: NestedOptions): ResourceProvider {
  const { provider: outerProvider } = outer;
  const origins = createOrigins(outerProvider);
  const find = (uri: string): Promise<Container | undefined> => containerOf(outer, kinds, uri);
  const folders = foldersIn(outer, kinds, origins);

  /**
   * Opens a container, or uses the open one.
   * @throws ResourceError that names the container and says what is wrong with it; the reason of the context's signal
   */
  async function opened(container: Container, ctx: Context): Promise<Lease> {
    const { uri, segments } = container;
    const containerKey = `${key ?? ''}${uri}`;
    const name = segments.at(-1) ?? uri;
    const placeState = isFolder(container) ? container.place.file : container.place.state;
    const opening = { name, uri, key: `${containerKey}\n${placeState}\n`, log: ctx.log };
    const state = container.kind.follows ? container.place.file : placeState;
    const open = (): Promise<Inner> =>
      isFolder(container)
        ? container.kind.open({ ...opening, place: container.place })
        : container.kind.open({ ...opening, place: container.place });
    ctx.signal.throwIfAborted();
    const lease = openings.use(containerKey, state, open, ctx.principal.id);
    try {
      return await abortable(lease, ctx.signal);
    } catch (error) {
      // Other callers may wait for the same container, so it is opened nevertheless.
      lease.then(
        (unused) => unused.release(),
        () => {},
      );
      throw error instanceof ResourceError ? error.withUri(uri) : error;
    }
  }

  /**
   * Runs one operation inside of a container.
   * @param requested the URI of the request, which errors name
   * @param run gets the inner provider, and the URI in it
   */
  async function inside<T>(
    container: Container,
    requested: string,
    ctx: Context,
    run: (inner: Inner, native: string, ctx: Context) => Promise<T>,
  ): Promise<T> {
    const lease = await opened(container, ctx);
    try {
      const { inner } = lease;
      return await run(inner, `${inner.scheme}:///${container.rest}`, within(outer, container, inner, ctx));
    } catch (error) {
      throw error instanceof ResourceError ? error.withUri(requested) : error;
    } finally {
      lease.release();
    }
  }

  /** Describes a resource of the outer provider as a container, if it is one; else returns it as it is. */
  async function entered(resource: Resource): Promise<Resource> {
    const { capabilities } = resource;
    if (capabilities === undefined) return resource;
    const { segments } = parseTreeUri(resource.uri, outer.scheme);
    const kind = kindOfName(kinds, segments.at(-1));
    if (kind === undefined || capabilities.list !== (kind.isFolder === true)) return resource;
    if (kind.isFolder) return folders.entered(resource, kind, segments);
    if (kind.magic !== undefined) {
      const place = await outer.place(segments);
      if (place === undefined || !(await isReally(kind, place))) return resource;
    }
    return { ...resource, capabilities: { ...capabilities, list: true } };
  }

  async function enteredPage(uri: string | undefined, page: Page, ctx: Context): Promise<ResourcePage> {
    const given = await folders.list(uri, page, ctx);
    const resources = await mapChanged(given.resources, entered);
    return resources === given.resources ? given : origins.made({ ...given, resources }, given);
  }

  /**
   * Makes the function that describes a resource of the inner provider with its outer URI. A resource in an archive can be
   * watched if the archive can, since it changes with the archive.
   */
  const outerResource = (container: Container, inner: Inner) => {
    const rename = outwards(container, inner.scheme);
    return (resource: Resource): Resource => {
      const renamed = renameResource(resource, rename);
      if (renamed.capabilities === undefined) return renamed;
      const subscribe = outerProvider.features.watch && (!container.kind.follows || renamed.capabilities.subscribe);
      return { ...renamed, capabilities: { ...renamed.capabilities, subscribe } };
    };
  };

  async function watchInside(container: Container, uri: string, onChange: (event: ChangeEvent) => void, ctx: Context) {
    const changed = (): void => onChange({ kind: 'updated', uri });
    const watches: AsyncDisposable[] = [];
    const dispose = async (): Promise<void> => {
      await Promise.allSettled(watches.splice(0).map((watch) => watch[Symbol.asyncDispose]()));
    };
    try {
      if (outerProvider.watch !== undefined && !isFolder(container))
        watches.push(await outerProvider.watch(container.uri, changed, ctx));
      if (container.kind.follows) {
        const lease = await opened(container, ctx);
        watches.push({ [Symbol.asyncDispose]: async () => lease.release() });
        const { provider, scheme } = lease.inner;
        const watch = await provider.watch?.(
          `${scheme}:///${container.rest}`,
          changed,
          within(outer, container, lease.inner, ctx),
        );
        // The watch ends before the lease of its container.
        if (watch !== undefined) watches.unshift(watch);
      }
      return { [Symbol.asyncDispose]: dispose };
    } catch (error) {
      await dispose();
      throw error instanceof ResourceError ? error.withUri(uri) : error;
    }
  }

  const provider: ResourceProvider = {
    name: outerProvider.name,
    features: {
      ...outerProvider.features,
      ...(kinds.some(({ gathers }) => gathers) && { gathers: true }),
    },

    async list(uri, page, ctx) {
      const container = uri === undefined ? undefined : await find(uri);
      if (uri === undefined || container === undefined) return enteredPage(uri, page, ctx);
      const lease = await opened(container, ctx).catch((error) => {
        throw closedContainer(error, uri);
      });
      return await inside(container, uri, ctx, async (inner, native, innerCtx) => {
        const { resources, ...rest } = await inner.provider.list(native, page, innerCtx);
        const renamed = resources.map(outerResource(container, inner));
        const shown = await Promise.all(renamed.map((resource) => isShownIn(outer, container, resource)));
        return { ...rest, resources: renamed.filter((_, at) => shown[at]) };
      }).finally(() => lease.release());
    },

    async metadata(uri, ctx) {
      const container = await find(uri);
      if (container?.rest === '' && isFolder(container)) return folders.metadata(container, ctx);
      if (container === undefined || container.rest === '')
        return entered(await outerProvider.metadata(container?.uri ?? uri, ctx));
      return inside(container, uri, ctx, async (inner, native, innerCtx) =>
        outerResource(container, inner)(await inner.provider.metadata(native, innerCtx)),
      );
    },

    async read(uri, want, ctx) {
      const container = await find(uri);
      if (container === undefined || (container.rest === '' && !isFolder(container))) {
        const bodies = await outerProvider.read(container?.uri ?? uri, want, ctx);
        const described = mapChanged(bodies, async (body): Promise<ResourceBody> => {
          const resource = await entered(body.resource);
          return resource === body.resource ? body : { ...body, resource };
        });
        return origins.made(await orClosed(bodies, described), bodies);
      }
      const lease = await opened(container, ctx);
      return inside(container, uri, ctx, async (inner, native, innerCtx) => {
        const rename = outwards(container, inner.scheme);
        const bodies = await inner.provider.read(native, want, innerCtx);
        const describe = outerResource(container, inner);
        const all = bodies.map((body) => {
          const { capabilities } = describe(body.resource);
          const renamed = renameBody(body, rename);
          return capabilities === undefined ? renamed : { ...renamed, resource: { ...renamed.resource, capabilities } };
        });
        const shown = await orClosed(all, Promise.all(all.map((body) => isShownIn(outer, container, body.resource))));
        await closeBodies(all.filter((_, at) => !shown[at]));
        // The container stays open until the contents of the bodies are read.
        return countedBodies(
          all.filter((_, at) => shown[at]),
          () => lease.release(),
        );
      }).catch((error) => {
        lease.release();
        throw error;
      });
    },

    ...(outerProvider.listTemplates !== undefined && {
      listTemplates: outerProvider.listTemplates.bind(outerProvider),
    }),
    ...(outerProvider.complete !== undefined && { complete: completing(outer, kinds) }),
    ...(outerProvider.watch !== undefined && {
      async watch(uri, onChange, ctx = createContext()) {
        const container = uri === undefined ? undefined : await find(uri);
        if (uri === undefined || container === undefined || (container.rest === '' && !container.kind.follows))
          return (
            outerProvider.watch?.(container?.uri ?? uri, onChange, ctx) ??
            Promise.reject(invalid('Nothing to watch', uri))
          );
        return watchInside(container, uri, onChange, ctx);
      },
    }),

    ...(kinds.some(({ isFolder }) => isFolder) && {
      alsoNamed: (uri: string) => [...(outerProvider.alsoNamed?.(uri) ?? []), ...filesBeside(outer, kinds, uri)],
    }),

    search: (query, ctx) => searchNested({ outer, kinds, find, inside }, query, ctx),

    async close() {
      if (key === undefined) await openings.close();
      await outerProvider.close?.();
    },
  };
  return withAgain(provider, {
    again: (bodies, uri, want, ctx) =>
      outerProvider.again?.(bodies, uri, want, ctx) === true || origins.again(bodies, uri, want, ctx),
    listAgain: (page, uri, want, ctx) =>
      outerProvider.listAgain?.(page, uri, want, ctx) === true || origins.listAgain(page, uri, want, ctx),
  });
}

/** Returns the context for an inner provider. Its `may` translates inner URIs into outer ones, since rules are about these. */
function within(outer: Outer, container: Container, { provider, scheme }: Inner, ctx: Context): Context {
  const rename = outwards(container, scheme);
  const outerMay = ctx.may;
  const may: May = (operation, native) => outerMay?.(operation, rename(native)) ?? true;
  if (!isFolder(container))
    return outerMay === undefined ? ctx : { ...ctx, may: provider.features.gathers === true ? may : undefined };
  return {
    ...ctx,
    may: async (operation, native) =>
      (await isShownIn(outer, container, { uri: rename(native) })) && may(operation, native),
  };
}

/** Turns the error of a container that cannot be opened into `not-listable`, so that a list of the tree goes on without it. */
function closedContainer(error: unknown, uri: string): unknown {
  if (!(error instanceof ResourceError) || !CLOSED.has(error.code)) return error;
  return new ResourceError('not-listable', error.message, { uri, cause: error });
}

const CLOSED: ReadonlySet<string> = new Set(['invalid', 'too-large', 'denied']);

/** Waits for a result that bodies need before they are returned. If it fails, closes the bodies. */
async function orClosed<T>(bodies: readonly ResourceBody[], result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    await closeBodies(bodies);
    throw error;
  }
}

/** Maps the values one after the other. Returns the same array if no value has changed. */
async function mapChanged<T>(values: readonly T[], map: (value: T) => Promise<T>): Promise<readonly T[]> {
  let changed = false;
  const mapped: T[] = [];
  for (const value of values) {
    const after = await map(value);
    changed ||= after !== value;
    mapped.push(after);
  }
  return changed ? mapped : values;
}
