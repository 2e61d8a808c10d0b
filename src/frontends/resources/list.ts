/** `resources/list` (2093-4) and `resources/directory/read` (SEP-2640): the default list, and direct children. */
import type { Context } from '../../core/context.ts';
import { TRUNCATED_META_KEY } from '../../protocol/meta.ts';
import type { DirectoryReadParams, ListParams } from '../../protocol/methods.ts';
import type { CacheHint, Resource } from '../../protocol/resources.ts';
import { answering } from './answer.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from './options.ts';
import { type WalkPage, walkPage } from './walk.ts';

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
  return answering(options, ctx, async (noted) => {
    const { resources, position: next, truncatedBy } = await listedPage(options, undefined, position, noted);
    return {
      resources,
      ...nextCursor(options, next, scope),
      ...(truncatedBy !== undefined && { _meta: { [TRUNCATED_META_KEY]: truncatedBy } }),
    };
  });
}

/** A page of the default list, or of the children of `uri`, and the bare position behind it. */
export async function listedPage(
  options: ResourceOptions,
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
  const opened = openCursor(options, cursor, scope);
  return answering(options, ctx, async (noted) => {
    const { resources, position } = await listedPage(options, uri, opened, noted);
    return { resources, ...nextCursor(options, position, scope) };
  });
}
