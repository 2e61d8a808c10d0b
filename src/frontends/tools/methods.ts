/** `tools/list` and `tools/call`. */
import type { Context } from '../../core/context.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { CallToolResult, ToolDescription } from '../../protocol/content.ts';
import type { InputRequired } from '../../protocol/input-required.ts';
import type { CallToolParams, ListToolsParams } from '../../protocol/methods.ts';
import type { CacheHint } from '../../protocol/resources.ts';
import { pageOf } from '../page.ts';
import type { ResourceOptions } from '../resources/options.ts';
import type { ToolRegistry } from './registry.ts';

export interface ListToolsResult extends CacheHint {
  readonly tools: readonly ToolDescription[];
  readonly nextCursor?: string;
}

export async function listTools(
  registry: ToolRegistry,
  options: ResourceOptions,
  params: ListToolsParams,
  ctx: Context,
): Promise<ListToolsResult> {
  const { items, ...rest } = pageOf(
    await registry.describe(),
    (tool) => tool.name,
    'tools/list',
    params.cursor,
    options,
    ctx,
  );
  return { tools: items, ...rest };
}

export function callTool(
  registry: ToolRegistry,
  params: CallToolParams,
  invocation: Invocation,
): Promise<CallToolResult | InputRequired> {
  return registry.call(params.name, params.arguments, invocation);
}
