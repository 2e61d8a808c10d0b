/** Makes one page of a list for a client. */
import type { Context } from '../../core/context.ts';
import type { Page } from '../../core/provider.ts';
import type { CacheHint } from '../../protocol/resources.ts';
import { answering } from './answer.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from './options.ts';

/**
 * Opens the caller's cursor, and seals the cursor of the next page.
 * @param list returns the members of the result, and the position at which the next page begins
 * @throws ResourceError `invalid` for a cursor of another list or caller, and errors of `list`
 */
export function answerPage<T extends object>(
  options: ResourceOptions,
  method: string,
  cursor: string | undefined,
  ctx: Context,
  list: (page: Page, ctx: Context) => Promise<readonly [members: T, position: string | undefined]>,
): Promise<T & { readonly nextCursor?: string } & CacheHint> {
  const scope = scopeOf(ctx, method);
  return answering(options, ctx, async (noted) => {
    const page = { cursor: openCursor(options, cursor, scope), limit: options.limits.pageSize };
    const [members, position] = await list(page, noted);
    return { ...members, ...nextCursor(options, position, scope) };
  });
}
