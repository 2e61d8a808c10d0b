/**
 * Tools over the same layered provider as `resources/*`, for hosts that give their model tools and nothing else (CB-2 to
 * CB-8). One file a tool.
 */

import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { NamedRequest } from '../../core/mounted-server.ts';
import type { Tool } from '../../core/tool.ts';
import { describeTool } from './describe.ts';
import { iconOf } from './icons.ts';
import { listTool } from './list.ts';
import { listSubscriptionsTool } from './list-subscriptions.ts';
import { listTemplatesTool } from './list-templates.ts';
import type { ToolName } from './names.ts';
import { readTool } from './read.ts';
import { readEmbeddedTool } from './read-embedded.ts';
import { readToolAgain } from './reading/kept.ts';
import { searchTool } from './search.ts';
import type { ToolSetup } from './setup.ts';
import { DEFAULT_OUTPUT_BYTES, type ResourceToolContext, type ResourceToolOptions } from './setup.ts';
import { subscribeTool } from './subscribe.ts';
import { subscribeListChangesTool } from './subscribe-list-changes.ts';
import { summarizeTool } from './summarize.ts';
import { unsubscribeTool } from './unsubscribe.ts';
import { unsubscribeListChangesTool } from './unsubscribe-list-changes.ts';

/** With less, no page and no header would have room. */
const MIN_OUTPUT_BYTES = 1_000;

export interface ResourceTools {
  readonly tools: readonly Tool[];
  /** The members of the result of a call in JSON, where one of these tools would give what it gave before. */
  again(request: NamedRequest, ctx: Context): string | undefined;
  /** Ends what the tools have left open. */
  close(): Promise<void>;
}

/** @throws ResourceError `invalid` for an output budget that is too small, TypeError for a prefix that makes no name */
export function createResourceTools(context: ResourceToolContext, options: ResourceToolOptions = {}): ResourceTools {
  const { outputBytes = DEFAULT_OUTPUT_BYTES } = options;
  if (!(outputBytes >= MIN_OUTPUT_BYTES)) throw invalid(`outputBytes is at least ${MIN_OUTPUT_BYTES}`);
  const prefix = options.prefix === undefined || options.prefix === '' ? '' : `${options.prefix}_`;
  const setup: ToolSetup = {
    ...context,
    outputBytes: Math.min(outputBytes, context.resources.limits.maxReadBytes),
    nameOf: (tool) => `${prefix}${tool}`,
  };
  const search = searchTool(context, { name: setup.nameOf('search'), outputBytes: setup.outputBytes });
  const looking = [
    listTool(setup),
    listTemplatesTool(setup),
    describeTool(setup),
    readTool(setup),
    readEmbeddedTool(setup),
    withIcon('search', search.tool),
    withIcon('summarize', summarizeTool(context, { prefix })),
  ];
  const subscribing = [
    subscribeTool(setup),
    unsubscribeTool(setup),
    listSubscriptionsTool(setup),
    subscribeListChangesTool(setup),
    unsubscribeListChangesTool(setup),
  ];
  // Only what works is offered (SEC-CAP-1).
  const { watch } = context.resources.provider.features;
  const read = setup.nameOf('read');
  return {
    tools: watch ? [...looking, ...subscribing] : looking,
    again: ({ name, arguments: args }, ctx) => (name === read ? readToolAgain(setup, args, ctx) : undefined),
    close: () => search.close(),
  };
}

const withIcon = (name: ToolName, tool: Tool): Tool => ({ ...tool, icons: [iconOf(name)] });
