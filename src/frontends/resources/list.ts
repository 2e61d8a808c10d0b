/** `resources/list` (2093-4) and `resources/directory/read` (SEP-2640): the default list, and direct children. */
import type { Context } from '../../core/context.ts';
import { createNotes } from '../../core/notes.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { TRUNCATED_META_KEY } from '../../protocol/meta.ts';
import type { ListParams } from '../../protocol/methods.ts';
import type { CacheHint, Resource } from '../../protocol/resources.ts';
import { type GivenPage, isUnasked } from './kept.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from './options.ts';
import { type WalkPage, walkPage } from './walk.ts';

export interface ListResult extends CacheHint {
  readonly resources: readonly Resource[];
  readonly nextCursor?: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/**
 * Returns a page for a client, with icons: of the direct children of `uri`, or of the default list without a `uri`. A page
 * that may be sent again is kept in written form.
 */
export async function listForClient(
  options: ResourceOptions,
  method: string,
  { uri, cursor }: ListParams,
  ctx: Context,
): Promise<ListResult> {
  const { kept, withListIcons, cacheHint } = options;
  const scope = uri === undefined ? scopeOf(ctx, method) : scopeOf(ctx, method, uri);
  const opened = openCursor(options, cursor, scope);
  const notes = createNotes();
  const taken: GivenPage[] = [];
  const provider = kept === undefined ? options.provider : takingPages(options.provider, taken);
  const page = await listedPage({ ...options, provider }, uri, opened, { ...ctx, notes });
  const { resources, position, truncatedBy } = page;
  const said = notes.finish(
    {
      resources,
      ...nextCursor(options, position, scope),
      ...(truncatedBy !== undefined && { _meta: { [TRUNCATED_META_KEY]: truncatedBy } }),
    },
    cacheHint,
  );
  const result: ListResult = withListIcons === undefined ? said : withListIcons(said);
  // Later pages contain a cursor that is sealed anew each time.
  if (kept === undefined || cursor !== undefined || result._meta !== undefined) return result;
  return notes.silent && isUnasked(ctx) ? kept.keep(keyOf(method, uri, ctx), taken, result) : result;
}

/**
 * Returns the members of the result as JSON, if a list would return the same as before.
 * @param params the unchecked parameters; wrong ones never match a kept page
 */
export function listAgain(
  { kept }: ResourceOptions,
  method: string,
  { uri, cursor }: { readonly uri?: string | undefined; readonly cursor?: unknown },
  ctx: Context,
): string | undefined {
  return cursor === undefined && isUnasked(ctx) ? kept?.again(keyOf(method, uri, ctx), ctx) : undefined;
}

/** A page contains a cursor for one principal, so the principal is part of the key. */
const keyOf = (method: string, uri: string | undefined, { principal }: Context): string =>
  JSON.stringify([method, principal.id, uri]);

/** Wraps the provider so that each page that it returns is recorded in `taken`. */
const takingPages = (provider: ResourceProvider, taken: GivenPage[]): Pick<ResourceProvider, 'list'> => ({
  async list(uri, want, ctx) {
    const page = await provider.list(uri, want, ctx).catch((error: unknown) => {
      // Some failures become an empty page, about which the provider cannot be asked again.
      taken.push({ uri, want, page: { resources: [] } });
      throw error;
    });
    taken.push({ uri, want, page });
    return page;
  },
});

/** Returns a page of the default list, or of the children of `uri`, and the unsealed position after it. */
export async function listedPage(
  options: Pick<ResourceOptions, 'limits' | 'listing'> & { readonly provider: Pick<ResourceProvider, 'list'> },
  uri: string | undefined,
  position: string | undefined,
  ctx: Context,
): Promise<WalkPage> {
  const { provider, limits, listing } = options;
  if (uri !== undefined) {
    const page = await provider.list(uri, { cursor: position, limit: limits.pageSize }, ctx);
    return { resources: page.resources, position: page.nextCursor };
  }
  if (listing === 'walk') return walkPage(provider, position, limits, ctx);
  return { ...(await walkPage(provider, position, { ...limits, maxDepth: 1 }, ctx)), truncatedBy: undefined };
}
