/**
 * Tools over the same layered provider as `resources/*`, for hosts that give their model tools and nothing else (CB-2 to
 * CB-8). One file a tool.
 */

import type { Sight } from '../../core/access.ts';
import type { ChangeHub } from '../../core/change-hub.ts';
import { invalid } from '../../core/errors.ts';
import type { Resolver } from '../../core/mounts/resolver.ts';
import type { Mount } from '../../core/mounts.ts';
import type { Tool } from '../../core/tool.ts';
import type { ResourceOptions } from '../resources/options.ts';
import type { ToolName, ToolSetup } from './define.ts';
import { describeTool } from './describe.ts';
import { iconOf } from './icons.ts';
import { listTool } from './list.ts';
import { listSubscriptionsTool } from './list-subscriptions.ts';
import { listTemplatesTool } from './list-templates.ts';
import { readTool } from './read.ts';
import { readEmbeddedTool } from './read-embedded.ts';
import { searchTool } from './search.ts';
import { subscribeTool } from './subscribe.ts';
import { subscribeListChangesTool } from './subscribe-list-changes.ts';
import type { SubscriptionBook } from './subscribing/book.ts';
import { summarizeTool } from './summarize.ts';
import { unsubscribeTool } from './unsubscribe.ts';
import { unsubscribeListChangesTool } from './unsubscribe-list-changes.ts';

export interface ResourceToolOptions {
  /** Goes before each tool's name with an underscore, as in `docs_read`. */
  readonly prefix?: string | undefined;
  /** Bytes of content that a tool puts into a model's context unless it is told otherwise. At least 1,000. */
  readonly outputBytes?: number | undefined;
}

export const DEFAULT_OUTPUT_BYTES = 25_000;

/** With less, no page and no header would have room. */
const MIN_OUTPUT_BYTES = 1_000;

/** What the tools work with. */
export interface ResourceToolContext {
  readonly resources: ResourceOptions;
  readonly changes: ChangeHub;
  readonly mounts: readonly Mount[];
  readonly resolver: Resolver;
  /** Which of the mounts a caller may know of. Default: all. */
  readonly sight?: Sight | undefined;
  /** What the subscription tools have written down. */
  readonly subscriptions: SubscriptionBook;
}

export interface ResourceTools {
  readonly tools: readonly Tool[];
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
  return { tools: watch ? [...looking, ...subscribing] : looking, close: () => search.close() };
}

const withIcon = (name: ToolName, tool: Tool): Tool => ({ ...tool, icons: [iconOf(name)] });
