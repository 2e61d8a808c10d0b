/** One page of a list that is in memory anyway: tools, prompts. */
import type { Context } from '../core/context.ts';
import { invalid } from '../core/errors.ts';
import type { CacheHint } from '../protocol/resources.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from './resources/options.ts';

export interface ListPage<T> extends CacheHint {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/** The page behind a cursor, which names the last entry that was given. */
export function pageOf<T>(
  all: readonly T[],
  nameOf: (item: T) => string,
  method: string,
  cursor: string | undefined,
  options: ResourceOptions,
  ctx: Context,
): ListPage<T> {
  const scope = scopeOf(ctx, method);
  const last = openCursor(options, cursor, scope);
  const at = last === undefined ? -1 : all.findIndex((item) => nameOf(item) === last);
  if (last !== undefined && at === -1) throw invalid('The list has changed; list again without the cursor');
  const items = all.slice(at + 1, at + 1 + options.limits.pageSize);
  const end = items.at(-1);
  const more = end !== undefined && at + 1 + items.length < all.length;
  return { items, ...nextCursor(options, more ? nameOf(end) : undefined, scope), ...options.cacheHint };
}
