/** `prompts/list`: `prompts/get` is an operation as it is. */
import type { Context } from '../../core/context.ts';
import type { NamedOperations } from '../../core/operations.ts';
import type { PromptDescription } from '../../protocol/content.ts';
import type { ListPromptsParams } from '../../protocol/methods.ts';
import type { CacheHint } from '../../protocol/resources.ts';
import { answering } from '../resources/answer.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from '../resources/options.ts';

export interface ListPromptsResult extends CacheHint {
  readonly prompts: readonly PromptDescription[];
  readonly nextCursor?: string;
}

export function listPrompts(
  operations: Pick<NamedOperations, 'listPrompts'>,
  options: ResourceOptions,
  params: ListPromptsParams,
  ctx: Context,
): Promise<ListPromptsResult> {
  const scope = scopeOf(ctx, 'prompts/list');
  return answering(options, ctx, async (noted) => {
    const cursor = openCursor(options, params.cursor, scope);
    const page = await operations.listPrompts({ cursor, limit: options.limits.pageSize }, noted);
    return { prompts: page.items.map(({ described }) => described), ...nextCursor(options, page.nextCursor, scope) };
  });
}
