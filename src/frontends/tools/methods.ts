/** `tools/list`: `tools/call` is an operation as it is. */
import type { Context } from '../../core/context.ts';
import type { NamedOperations } from '../../core/operations.ts';
import type { ToolDescription } from '../../protocol/content.ts';
import type { ListToolsParams } from '../../protocol/methods.ts';
import type { CacheHint } from '../../protocol/resources.ts';
import { answering } from '../resources/answer.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from '../resources/options.ts';

export interface ListToolsResult extends CacheHint {
  readonly tools: readonly ToolDescription[];
  readonly nextCursor?: string;
}

export function listTools(
  operations: Pick<NamedOperations, 'listTools'>,
  options: ResourceOptions,
  params: ListToolsParams,
  ctx: Context,
): Promise<ListToolsResult> {
  const scope = scopeOf(ctx, 'tools/list');
  return answering(options, ctx, async (noted) => {
    const cursor = openCursor(options, params.cursor, scope);
    const page = await operations.listTools({ cursor, limit: options.limits.pageSize }, noted);
    return { tools: page.items.map(({ described }) => described), ...nextCursor(options, page.nextCursor, scope) };
  });
}
