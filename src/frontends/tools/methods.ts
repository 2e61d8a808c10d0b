/** `tools/list` and `tools/call`. */
import type { Context } from '../../core/context.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { CallToolResult, ToolDescription } from '../../protocol/content.ts';
import type { InputRequired } from '../../protocol/input-required.ts';
import type { CallToolParams, ListToolsParams } from '../../protocol/methods.ts';
import type { CacheHint } from '../../protocol/resources.ts';
import { answering } from '../resources/answer.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from '../resources/options.ts';
import type { ToolRegistry } from './registry.ts';

export interface ListToolsResult extends CacheHint {
  readonly tools: readonly ToolDescription[];
  readonly nextCursor?: string;
}

export function listTools(
  registry: ToolRegistry,
  options: ResourceOptions,
  params: ListToolsParams,
  ctx: Context,
): Promise<ListToolsResult> {
  const scope = scopeOf(ctx, 'tools/list');
  return answering(options, ctx, async (noted) => {
    const cursor = openCursor(options, params.cursor, scope);
    const page = await registry.page({ cursor, limit: options.limits.pageSize }, noted);
    return { tools: page.items, ...nextCursor(options, page.nextCursor, scope) };
  });
}

export function callTool(
  registry: ToolRegistry,
  params: CallToolParams,
  invocation: Invocation,
): Promise<CallToolResult | InputRequired> {
  return registry.call(params, invocation);
}
