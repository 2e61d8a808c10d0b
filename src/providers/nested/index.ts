/**
 * Shows files as if they were folders: `file:///pack.zip/guide/intro.md` is an entry of an archive,
 * `file:///shop.db/customers/17` a row of a database. A file keeps its own content; what is in it lies below its URI, where
 * nothing else is. Whatever is around this provider sees one tree of URIs.
 */
import { createOrigins, withAgain } from '../../core/again.ts';
import { closeBodies, countedBodies, type ResourceBody } from '../../core/body.ts';
import { type Context, createContext } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { ChangeEvent, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { renameBody, renameResource } from '../../core/renamed.ts';
import { parseTreeUri } from '../../core/uri.ts';
import type { Resource } from '../../protocol/resources.ts';
import { type Container, containerOf, isReally, isShownIn, kindOfName, outwards } from './container.ts';
import type { Inner, NestedKind, Outer } from './kind.ts';
import type { Lease, Openings } from './openings.ts';
import { searchNested } from './search.ts';

export type { Inner, NestedKind, Opening, Outer, Place } from './kind.ts';
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

  /** @throws ResourceError that says what is wrong with it, about the container */
  async function opened(container: Container, ctx: Context): Promise<Lease> {
    const { kind, place, uri, segments } = container;
    const state = kind.follows ? place.file : place.state;
    const own = `${key ?? ''}${uri}`;
    const open = (): Promise<Inner> =>
      kind.open({ place, name: segments.at(-1) ?? uri, key: `${own}\n${place.state}\n`, log: ctx.log });
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
      return await run(inner, `${inner.scheme}:///${container.rest}`, within(container, inner, ctx));
    } catch (error) {
      throw error instanceof ResourceError ? error.withUri(asked) : error;
    } finally {
      lease.release();
    }
  }

  /** Describes an entry as the provider around does, but listable where it is a container. */
  async function entered(resource: Resource): Promise<Resource> {
    if (resource.capabilities?.list !== false) return resource;
    const { segments } = parseTreeUri(resource.uri, outer.scheme);
    const kind = kindOfName(kinds, segments.at(-1));
    if (kind === undefined) return resource;
    if (kind.magic !== undefined) {
      const place = await outer.place(segments);
      if (place === undefined || !(await isReally(kind, place))) return resource;
    }
    return { ...resource, capabilities: { ...resource.capabilities, list: true } };
  }

  async function enteredPage(page: ResourcePage): Promise<ResourcePage> {
    const resources = await mapChanged(page.resources, entered);
    return resources === page.resources ? page : origins.made({ ...page, resources }, page);
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
      if (around.watch !== undefined) watches.push(await around.watch(container.uri, changed, ctx));
      if (container.kind.follows) {
        const lease = await opened(container, ctx);
        watches.push({ [Symbol.asyncDispose]: async () => lease.release() });
        const { provider, scheme } = lease.inner;
        const watch = await provider.watch?.(
          `${scheme}:///${container.rest}`,
          changed,
          within(container, lease.inner, ctx),
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
      if (uri === undefined || container === undefined) return enteredPage(await around.list(uri, page, ctx));
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
      if (container === undefined || container.rest === '')
        return entered(await around.metadata(container?.uri ?? uri, ctx));
      return inside(container, uri, ctx, async (inner, native, own) =>
        told(container, inner)(await inner.provider.metadata(native, own)),
      );
    },

    async read(uri, want, ctx) {
      const container = await find(uri);
      if (container === undefined || container.rest === '') {
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
    ...(around.complete !== undefined && { complete: around.complete.bind(around) }),
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
function within(container: Container, { provider, scheme }: Inner, ctx: Context): Context {
  const { may } = ctx;
  if (may === undefined) return ctx;
  if (provider.features.gathers !== true) return { ...ctx, may: undefined };
  const rename = outwards(container, scheme);
  return { ...ctx, may: (operation, native) => may(operation, rename(native)) };
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
