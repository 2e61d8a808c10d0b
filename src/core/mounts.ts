/**
 * Several providers in one tree. The only place that knows prefixes: a mount named `docs` publishes
 * `docs+file:///guide/intro.md`, its name, `+`, and the provider's own URI, and is found again by cutting at the first
 * `+`. That holds for opaque URIs and templates too, and depends on nothing but the mount and the URI (CB-1).
 */
import type { Icon, Resource, ResourceTemplate } from '../protocol/resources.ts';
import type { ResourceBody } from './body.ts';
import type { Context } from './context.ts';
import { invalid, notFound, ResourceError } from './errors.ts';
import type {
  ChangeEvent,
  Page,
  ProviderFeatures,
  ResourcePage,
  ResourceProvider,
  SearchMatch,
  SearchQuery,
} from './provider.ts';
import { searchProvider } from './search.ts';
import { schemeOf } from './uri.ts';

export interface Mount {
  /** `[a-z][a-z0-9-.]*`: it becomes a part of a URI scheme. */
  readonly name: string;
  readonly provider: ResourceProvider;
  /** `none` publishes the provider's URIs as they are. Default: the mount's name. */
  readonly prefix?: 'name' | 'none' | undefined;
  /** Of its folders and templates, instead of the default ones (973-2). */
  readonly icons?: readonly Icon[] | undefined;
}

const MOUNT_NAME = /^[a-z][a-z0-9.-]*$/;

/** The mount under which Vitrine publishes its own state: `vitrine+state:///subscriptions`. */
export const STATE_MOUNT = 'vitrine';

/** A mount name is at most this long. */
export const MAX_MOUNT_NAME_LENGTH = 64;

/** Why `name` cannot name a mount, or undefined when it can. */
export function mountNameProblem(name: string): string | undefined {
  if (name.length > MAX_MOUNT_NAME_LENGTH) return `A mount name has at most ${MAX_MOUNT_NAME_LENGTH} characters`;
  if (MOUNT_NAME.test(name)) return undefined;
  return 'A mount name starts with a lower-case letter and goes on with a-z, 0-9, "-" and "."';
}

/**
 * One provider over all mounts, in the order given.
 * @throws ResourceError `invalid` for a bad or doubled name, or when two mounts would publish the same URIs.
 */
export function mountTree(mounts: readonly Mount[]): ResourceProvider {
  assertUnambiguous(mounts);
  const byName = new Map(mounts.filter(isPrefixed).map((mount) => [mount.name, mount]));
  const byScheme = new Map(
    mounts
      .filter((mount) => !isPrefixed(mount))
      .flatMap((mount) => mount.provider.features.schemes.map((scheme) => [scheme, mount])),
  );

  /** The mount of a published URI or template, and the provider's own form of it. */
  function route(published: string): { mount: Mount; native: string } {
    const isUi = UI.test(published);
    const text = isUi ? published.slice('ui://'.length) : published;
    const plus = text.indexOf('+');
    const named = plus > 0 ? byName.get(text.slice(0, plus).toLowerCase()) : undefined;
    if (named !== undefined) {
      const native = text.slice(plus + 1);
      return { mount: named, native: isUi ? `ui://${native}` : native };
    }
    const mount = byScheme.get(schemeOf(published) ?? '');
    if (mount === undefined) throw notFound(published);
    return { mount, native: published };
  }

  /** Runs one operation on the mount of a URI; what it throws names the published URI. */
  async function on<T>(published: string, run: (mount: Mount, native: string) => Promise<T>): Promise<T> {
    const { mount, native } = route(published);
    try {
      return await run(mount, native);
    } catch (error) {
      throw error instanceof ResourceError ? error.withUri(published) : error;
    }
  }

  /** Goes through the mounts one after the other; the cursor is the mount's name and its own cursor. */
  async function across<T>(
    page: Page,
    run: (mount: Mount, page: Page) => Promise<{ items: readonly T[]; nextCursor?: string | undefined }>,
  ): Promise<{ items: T[]; nextCursor?: string | undefined }> {
    const start = page.cursor === undefined ? undefined : parsePosition(page.cursor);
    let index = start === undefined ? 0 : mounts.findIndex((mount) => mount.name === start.mount);
    if (index === -1) throw invalid('The cursor names a mount that is gone; list again without it');
    let cursor = start?.cursor;
    const items: T[] = [];
    for (let mount = mounts[index]; mount !== undefined; mount = mounts[++index]) {
      const result = await run(mount, { cursor, limit: page.limit - items.length }).catch((error: unknown) => {
        throw publishError(mount, error);
      });
      items.push(...result.items);
      cursor = result.nextCursor;
      if (cursor !== undefined) return { items, nextCursor: JSON.stringify([mount.name, cursor]) };
      const next = mounts[index + 1];
      if (items.length >= page.limit && next !== undefined) return { items, nextCursor: JSON.stringify([next.name]) };
    }
    return { items };
  }

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

  /** One mount that does not answer does not take the others along: it is left out, and the log says so. */
  async function rootsOf(mount: Mount, page: Page, ctx: Context): Promise<ResourcePage> {
    try {
      return await mount.provider.list(undefined, page, ctx);
    } catch (error) {
      if (mounts.length === 1 || !(error instanceof ResourceError) || error.code !== 'unavailable') throw error;
      ctx.log.warn('a mount is left out of the list', { mount: mount.name, error });
      return { resources: [] };
    }
  }

  return {
    name: 'mounts',
    features: featuresOf(mounts),

    async list(uri, page, ctx) {
      if (uri === undefined) {
        const { items, nextCursor } = await across(page, async (mount, inner) => {
          const roots = await rootsOf(mount, inner, ctx);
          return { items: roots.resources.map((resource) => publish(mount, resource)), nextCursor: roots.nextCursor };
        });
        return { resources: items, nextCursor };
      }
      return on(uri, async (mount, native) => {
        const result = await mount.provider.list(native, page, ctx);
        return { ...result, resources: result.resources.map((resource) => publish(mount, resource)) };
      });
    },

    metadata: (uri, ctx) =>
      on(uri, async (mount, native) => publish(mount, await mount.provider.metadata(native, ctx))),

    read: (uri, want, ctx) =>
      on(uri, async (mount, native) => {
        const bodies = await mount.provider.read(native, want, ctx);
        return bodies.map((body) => publishBody(mount, body));
      }),

    async listTemplates(page, ctx) {
      const { items, nextCursor } = await across(page, async (mount, inner) => {
        const result = await mount.provider.listTemplates?.(inner, ctx);
        const templates = result?.resourceTemplates ?? [];
        return { items: templates.map((template) => publishTemplate(mount, template)), nextCursor: result?.nextCursor };
      });
      return { resourceTemplates: items, nextCursor };
    },

    complete: (request, ctx) =>
      on(request.uriTemplate, async (mount, native) => {
        if (mount.provider.complete === undefined) return { values: [], hasMore: false };
        return mount.provider.complete({ ...request, uriTemplate: native }, ctx);
      }),

    watch(uri, onChange, ctx) {
      if (uri === undefined) return watchAll(onChange, ctx);
      return on(uri, async (mount, native) => {
        if (mount.provider.watch === undefined) throw invalid('This resource cannot be subscribed to', uri);
        const published = (event: ChangeEvent): void =>
          onChange(event.kind === 'updated' ? { ...event, uri: publishUri(mount, event.uri) } : event);
        return mount.provider.watch(native, published, ctx);
      });
    },

    async *search(query, ctx) {
      if (query.uri !== undefined) {
        const { mount, native } = route(query.uri);
        yield* searchMount(mount, { ...query, uri: native }, ctx);
        return;
      }
      for (const mount of mounts) yield* searchMount(mount, query, ctx);
    },

    async close() {
      await Promise.allSettled(mounts.map((mount) => mount.provider.close?.()));
    },
  };
}

const UI = /^ui:\/\//i;

const isPrefixed = (mount: Mount): boolean => mount.prefix !== 'none';

async function* searchMount(mount: Mount, query: SearchQuery, ctx: Context): AsyncIterable<SearchMatch> {
  try {
    for await (const match of searchProvider(mount.provider, query, ctx))
      yield { ...match, uri: publishUri(mount, match.uri) };
  } catch (error) {
    throw publishError(mount, error);
  }
}

/** What a mount throws of itself names the URI that it publishes. */
const publishError = (mount: Mount, error: unknown): unknown =>
  error instanceof ResourceError && error.uri !== undefined ? error.withUri(publishUri(mount, error.uri)) : error;

function publishBody(mount: Mount, body: ResourceBody): ResourceBody {
  const resource = publish(mount, body.resource);
  if (!isPrefixed(mount) || body.content.kind === 'bytes') return { ...body, resource };
  const { content } = body;
  async function* published(): AsyncIterable<Uint8Array> {
    try {
      yield* content.open();
    } catch (error) {
      throw publishError(mount, error);
    }
  }
  return { ...body, resource, content: { ...content, open: published } };
}

/** The URI, or URI template, under which a mount publishes its provider's own. */
export function publishUri(mount: Mount, native: string): string {
  if (!isPrefixed(mount)) return native;
  // Hosts look for `ui://`, so there the mount goes into the authority.
  if (UI.test(native)) return `ui://${mount.name}+${native.slice('ui://'.length)}`;
  return `${mount.name}+${native}`;
}

/** Whether a published URI, or URI template, is one of this mount. */
export function publishes(mount: Mount, uri: string): boolean {
  if (!isPrefixed(mount)) return mount.provider.features.schemes.includes(schemeOf(uri) ?? '');
  const text = UI.test(uri) ? uri.slice('ui://'.length) : uri;
  return text.slice(0, mount.name.length + 1).toLowerCase() === `${mount.name}+`;
}

const publish = (mount: Mount, resource: Resource): Resource =>
  isPrefixed(mount) ? { ...resource, uri: publishUri(mount, resource.uri) } : resource;

const publishTemplate = (mount: Mount, template: ResourceTemplate): ResourceTemplate =>
  isPrefixed(mount) ? { ...template, uriTemplate: publishUri(mount, template.uriTemplate) } : template;

/** @throws ResourceError `invalid` */
function parsePosition(cursor: string): { mount: string; cursor: string | undefined } {
  try {
    const [mount, inner] = JSON.parse(cursor) as readonly unknown[];
    if (typeof mount === 'string' && (inner === undefined || typeof inner === 'string'))
      return { mount, cursor: inner };
  } catch {}
  throw invalid('The cursor is not one of this list; list again without it');
}

function featuresOf(mounts: readonly Mount[]): ProviderFeatures {
  const some = (pick: (features: ProviderFeatures) => boolean): boolean =>
    mounts.some((mount) => pick(mount.provider.features));
  return {
    schemes: [...new Set(mounts.flatMap(publishedSchemes))],
    watch: some((features) => features.watch),
    templates: some((features) => features.templates),
    completion: some((features) => features.completion),
    // What a provider cannot search by itself is read and searched here.
    search: true,
    ranges: mounts.every((mount) => mount.provider.features.ranges),
    roots: some((features) => features.roots === true),
  };
}

const publishedSchemes = (mount: Mount): readonly string[] =>
  mount.provider.features.schemes.map((scheme) =>
    isPrefixed(mount) && scheme !== 'ui' ? `${mount.name}+${scheme}` : scheme,
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
        throw invalid(`The scheme ${scheme}: of mount "${mount.name}" reads like the mount "${head}"; rename that one`);
      }
      owners.set(scheme, mount.name);
    }
  }
}
