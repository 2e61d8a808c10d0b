/**
 * Tools over the same layered provider as `resources/*`, for hosts that give their model tools and nothing else (CB-2 to
 * CB-8). One file a tool.
 */

import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { NamedRequest } from '../../core/mounts/mounted-server.ts';
import { isStandardSchema, type Schema } from '../../core/schema/schema.ts';
import type { Tool } from '../../core/tool.ts';
import type { AppTools } from '../app/index.ts';
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
import { skillTool } from './skill.ts';
import { subscribeTool } from './subscribe.ts';
import { subscribeListChangesTool } from './subscribe-list-changes.ts';
import { summarizeTool } from './summarize.ts';
import { unsubscribeTool } from './unsubscribe.ts';
import { unsubscribeListChangesTool } from './unsubscribe-list-changes.ts';

/** With less, no page and no header would have room. */
const MIN_OUTPUT_BYTES = 1_000;

export interface ResourceTools {
  readonly tools: readonly Tool[];
  /** The name of the one that searches. */
  readonly search: string;
  /** The names that the explorer works with as an app. */
  readonly app: AppTools;
  /** The members of the result of a call in JSON, where one of these tools would give what it gave before. */
  again(request: NamedRequest, ctx: Context): string | undefined;
  /** Ends what the tools have left open. */
  close(): Promise<void>;
}

/** @throws ResourceError `invalid` for an output budget that is too small, TypeError for a prefix that makes no name */
export function createResourceTools(context: ResourceToolContext, options: ResourceToolOptions = {}): ResourceTools {
  const { outputBytes = DEFAULT_OUTPUT_BYTES, offer = 'all', icons = true } = options;
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
    // A server that is mounted may turn out to have skills.
    ...(context.mounts.some(({ skills, server }) => skills ?? server) ? [skillTool(setup)] : []),
  ];
  const summarizing = [withIcon('summarize', summarizeTool(context, { prefix }))];
  const subscribing = [
    subscribeTool(setup),
    unsubscribeTool(setup),
    listSubscriptionsTool(setup),
    subscribeListChangesTool(setup),
    unsubscribeListChangesTool(setup),
  ];
  // Only what works is offered (SEC-CAP-1).
  const watch = context.shared !== true && context.mounts.some(({ provider }) => provider.features.watch);
  const more = offer === 'read' ? [] : [...summarizing, ...(watch ? subscribing : [])];
  const tools = [...looking, ...more];
  const read = setup.nameOf('read');
  return {
    tools: tools.map(({ icons: drawn, ...tool }) => withShortSchemas(icons ? { ...tool, icons: drawn } : tool)),
    search: search.tool.name,
    app: { browse: `${prefix}browse`, list: setup.nameOf('list'), describe: setup.nameOf('describe') },
    again: ({ name, arguments: args }, ctx) => (name === read ? readToolAgain(setup, args, ctx) : undefined),
    close: () => search.close(),
  };
}

/** 2020-12 is what a schema of MCP is where it does not say: each tool would say it twice, in every model's context. */
function withShortSchemas({ inputSchema, outputSchema, ...tool }: Tool): Tool {
  return {
    ...tool,
    inputSchema: unsaid(inputSchema),
    ...(outputSchema !== undefined && { outputSchema: unsaid(outputSchema) }),
  };
}

function unsaid(schema: Schema): Schema {
  if (!isStandardSchema(schema)) return schema;
  const { jsonSchema, ...standard } = schema['~standard'];
  if (jsonSchema === undefined) return schema;
  const input: typeof jsonSchema.input = (options) => {
    const { $schema: _said, ...json } = jsonSchema.input(options);
    return json;
  };
  return { '~standard': { ...standard, jsonSchema: { input } } };
}

const withIcon = (name: ToolName, tool: Tool): Tool => ({ ...tool, icons: [iconOf(name)] });
