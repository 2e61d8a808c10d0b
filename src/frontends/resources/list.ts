/** `resources/list` (2093-4) and `resources/directory/read` (SEP-2640): the default list, and direct children. */
import type { Context } from '../../core/context.ts';
import { TRUNCATED_META_KEY } from '../../protocol/meta.ts';
import type { DirectoryReadParams, ListParams } from '../../protocol/methods.ts';
import type { CacheHint, Resource } from '../../protocol/resources.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from './options.ts';
import { walkPage } from './walk.ts';

export interface ListResult extends CacheHint {
  readonly resources: readonly Resource[];
  readonly nextCursor?: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** Direct children of `uri`, or the default list without one. */
export async function listResources(options: ResourceOptions, params: ListParams, ctx: Context): Promise<ListResult> {
  if (params.uri !== undefined) return listChildren(options, 'resources/list', params.uri, params.cursor, ctx);
  const scope = scopeOf(ctx, 'resources/list');
  const position = openCursor(options, params.cursor, scope);
  const maxDepth = options.listing === 'roots' ? 1 : options.limits.maxDepth;
  const page = await walkPage(options.provider, position, { ...options.limits, maxDepth }, ctx);
  const truncatedBy = options.listing === 'roots' ? undefined : page.truncatedBy;
  return {
    resources: page.resources,
    ...nextCursor(options, page.position, scope),
    ...options.cacheHint,
    ...(truncatedBy !== undefined && { _meta: { [TRUNCATED_META_KEY]: truncatedBy } }),
  };
}

/** The direct children of a directory, with the same entries as `resources/list` with its URI. */
export function readDirectory(
  options: ResourceOptions,
  params: DirectoryReadParams,
  ctx: Context,
): Promise<ListResult> {
  return listChildren(options, 'resources/directory/read', params.uri, params.cursor, ctx);
}

async function listChildren(
  options: ResourceOptions,
  method: string,
  uri: string,
  cursor: string | undefined,
  ctx: Context,
): Promise<ListResult> {
  const scope = scopeOf(ctx, method, uri);
  const page = { cursor: openCursor(options, cursor, scope), limit: options.limits.pageSize };
  const { resources, nextCursor: position } = await options.provider.list(uri, page, ctx);
  return { resources, ...nextCursor(options, position, scope), ...options.cacheHint };
}
