/**
 * Shows files as if they were folders: `file:///pack.zip/guide/intro.md` is an entry of an archive,
 * `file:///shop.db/customers/17` a row of a database. A file keeps its own content; what is in it lies below its URI, where
 * nothing else is. A folder can be gone into as something else too, as a repository is: `file:///.git/HEAD/a.txt`. Whatever is around this provider sees one tree of URIs.
 */
import { createOrigins, withAgain } from '../../core/again.ts';
import { closeBodies, countedBodies, type ResourceBody } from '../../core/body.ts';
import { type Context, createContext, type May } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { renameBody, renameResource } from '../../core/mounts/renamed.ts';
import type { ChangeEvent, Page, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { parseTreeUri } from '../../core/uri.ts';
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

export type { FolderPlace, Inner, NestedKind, Opening, Outer, Place } from './kind.ts';
export { createOpenings, type Openings } from './openings.ts';

export interface NestedOptions {
  readonly outer: Outer;
  readonly kinds: readonly NestedKind[];
  /** The open containers of this provider and of all that is nested in it. Whoever made the openings closes them. */
  readonly openings: Openings;
  /** Names this provider among those that share the openings. Default: the only one, which closes them with itself. */
  readonly key?: string;
}

export function nestedProvider({ outer, kinds, openings, key }: NestedOptions): ResourceProvider {
  const { provider: around } = outer;
  const origins = createOrigins(around);
  const find = (uri: string): Promise<Container | undefined> => containerOf(outer, kinds, uri);
  const folders = foldersIn(outer, kinds, origins);

  /** @throws ResourceError that says what is wrong with it, about the container */
  async function opened(container: Container, ctx: Context): Promise<Lease> {
    const { uri, segments } = container;
    const own = `${key ?? ''}${uri}`;
    const name = segments.at(-1) ?? uri;
    const inState = isFolder(container) ? container.place.file : container.place.state;
    const opening = { name, uri, key: `${own}\n${inState}\n`, log: ctx.log };
    const state = container.kind.follows ? container.place.file : inState;
    const open = (): Promise<Inner> =>
      isFolder(container)
        ? container.kind.open({ ...opening, place: container.place })
        : container.kind.open({ ...opening, place: container.place });
    try {
      return await openings.use(own, state, open, ctx.principal.id);
    } catch (error) {
      throw error instanceof ResourceError ? error.withUri(uri) : error;
    }
  }

  /** Runs one operation inside of a container; what it throws is about the URI that was asked for. */
  async function inside<T>(
    container: Container,
    asked: string,
    ctx: Context,
    run: (inner: Inner, native: string, ctx: Context) => Promise<T>,
  ): Promise<T> {
    const lease = await opened(container, ctx);
    try {
      const { inner } = lease;
      return await run(inner, `${inner.scheme}:///${container.rest}`, within(outer, container, inner, ctx));
    } catch (error) {
      throw error instanceof ResourceError ? error.withUri(asked) : error;
    } finally {
      lease.release();
    }
  }

  /** Describes an entry as the provider around does, but as a container where it is one. */
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

  /** Entries of an archive change with it, whatever they say of themselves. */
  const told = (container: Container, inner: Inner) => {
    const rename = outwards(container, inner.scheme);
    return (resource: Resource): Resource => {
      const renamed = renameResource(resource, rename);
      if (renamed.capabilities === undefined) return renamed;
      const subscribe = around.features.watch && (!container.kind.follows || renamed.capabilities.subscribe);
      return { ...renamed, capabilities: { ...renamed.capabilities, subscribe } };
    };
  };

  async function watchInside(container: Container, uri: string, onChange: (event: ChangeEvent) => void, ctx: Context) {
    const changed = (): void => onChange({ kind: 'updated', uri });
    const watches: AsyncDisposable[] = [];
    const dispose = async (): Promise<void> => {
      await Promise.allSettled(watches.splice(0).map((each) => each[Symbol.asyncDispose]()));
    };
    try {
      if (around.watch !== undefined && !isFolder(container))
        watches.push(await around.watch(container.uri, changed, ctx));
      if (container.kind.follows) {
        const lease = await opened(container, ctx);
        watches.push({ [Symbol.asyncDispose]: async () => lease.release() });
        const { provider, scheme } = lease.inner;
        const watch = await provider.watch?.(
          `${scheme}:///${container.rest}`,
          changed,
          within(outer, container, lease.inner, ctx),
        );
        // The watch ends before the lease of what it watches.
        if (watch !== undefined) watches.unshift(watch);
      }
      return { [Symbol.asyncDispose]: dispose };
    } catch (error) {
      await dispose();
      throw error instanceof ResourceError ? error.withUri(uri) : error;
    }
  }

  const provider: ResourceProvider = {
    name: around.name,
    features: {
      ...around.features,
      ...(kinds.some(({ gathers }) => gathers) && { gathers: true }),
    },

    async list(uri, page, ctx) {
      const container = uri === undefined ? undefined : await find(uri);
      if (uri === undefined || container === undefined) return enteredPage(uri, page, ctx);
      const lease = await opened(container, ctx).catch((error) => {
        throw closedContainer(error, uri);
      });
      return await inside(container, uri, ctx, async (inner, native, own) => {
        const { resources, ...rest } = await inner.provider.list(native, page, own);
        const renamed = resources.map(told(container, inner));
        const shown = await Promise.all(renamed.map((each) => isShownIn(outer, container, each)));
        return { ...rest, resources: renamed.filter((_, at) => shown[at]) };
      }).finally(() => lease.release());
    },

    async metadata(uri, ctx) {
      const container = await find(uri);
      if (container?.rest === '' && isFolder(container)) return folders.metadata(container, ctx);
      if (container === undefined || container.rest === '')
        return entered(await around.metadata(container?.uri ?? uri, ctx));
      return inside(container, uri, ctx, async (inner, native, own) =>
        told(container, inner)(await inner.provider.metadata(native, own)),
      );
    },

    async read(uri, want, ctx) {
      const container = await find(uri);
      if (container === undefined || (container.rest === '' && !isFolder(container))) {
        const bodies = await around.read(container?.uri ?? uri, want, ctx);
        const resources = await mapChanged(bodies, async (body): Promise<ResourceBody> => {
          const resource = await entered(body.resource);
          return resource === body.resource ? body : { ...body, resource };
        });
        return origins.made(resources, bodies);
      }
      const lease = await opened(container, ctx);
      return inside(container, uri, ctx, async (inner, native, own) => {
        const rename = outwards(container, inner.scheme);
        const bodies = await inner.provider.read(native, want, own);
        const say = told(container, inner);
        const all = bodies.map((body) => {
          const { capabilities } = say(body.resource);
          const given = renameBody(body, rename);
          return capabilities === undefined ? given : { ...given, resource: { ...given.resource, capabilities } };
        });
        const shown = await Promise.all(all.map((each) => isShownIn(outer, container, each.resource)));
        await closeBodies(all.filter((_, at) => !shown[at]));
        // Their contents may come later: until then it stays open.
        return countedBodies(
          all.filter((_, at) => shown[at]),
          () => lease.release(),
        );
      }).catch((error) => {
        lease.release();
        throw error;
      });
    },

    ...(around.listTemplates !== undefined && { listTemplates: around.listTemplates.bind(around) }),
    ...(around.complete !== undefined && { complete: completing(outer, kinds) }),
    ...(around.watch !== undefined && {
      async watch(uri, onChange, ctx = createContext()) {
        const container = uri === undefined ? undefined : await find(uri);
        if (uri === undefined || container === undefined || (container.rest === '' && !container.kind.follows))
          return (
            around.watch?.(container?.uri ?? uri, onChange, ctx) ?? Promise.reject(invalid('Nothing to watch', uri))
          );
        return watchInside(container, uri, onChange, ctx);
      },
    }),

    ...(kinds.some(({ isFolder }) => isFolder) && {
      alsoNamed: (uri: string) => [...(around.alsoNamed?.(uri) ?? []), ...filesBeside(outer, kinds, uri)],
    }),

    search: (query, ctx) => searchNested({ outer, kinds, find, inside }, query, ctx),

    async close() {
      if (key === undefined) await openings.close();
      await around.close?.();
    },
  };
  return withAgain(provider, {
    again: (bodies, uri, want, ctx) =>
      around.again?.(bodies, uri, want, ctx) === true || origins.again(bodies, uri, want, ctx),
    listAgain: (page, uri, want, ctx) =>
      around.listAgain?.(page, uri, want, ctx) === true || origins.listAgain(page, uri, want, ctx),
  });
}

/** Returns the context for a provider inside: it asks about other resources by their outer names. */
function within(outer: Outer, container: Container, { provider, scheme }: Inner, ctx: Context): Context {
  const rename = outwards(container, scheme);
  const asked = ctx.may;
  const may: May = (operation, native) => asked?.(operation, rename(native)) ?? true;
  if (!isFolder(container))
    return asked === undefined ? ctx : { ...ctx, may: provider.features.gathers === true ? may : undefined };
  return {
    ...ctx,
    may: async (operation, native) =>
      (await isShownIn(outer, container, { uri: rename(native) })) && may(operation, native),
  };
}

/** One that cannot be gone into has no children, and does not end the list of what lies around it. */
function closedContainer(error: unknown, uri: string): unknown {
  if (!(error instanceof ResourceError) || !CLOSED.has(error.code)) return error;
  return new ResourceError('not-listable', error.message, { uri, cause: error });
}

const CLOSED: ReadonlySet<string> = new Set(['invalid', 'too-large', 'denied']);

/** The same array where nothing is another one. */
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
