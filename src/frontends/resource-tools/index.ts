/**
 * Tools that use the same layered provider as `resources/*`, for hosts that give their model tools and nothing else (CB-2 to
 * CB-8). Each tool has its own file.
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

/** The least output budget: a page and its heading need this much. */
const MIN_OUTPUT_BYTES = 1_000;

export interface ResourceTools {
  readonly tools: readonly Tool[];
  /** The name of the search tool. */
  readonly search: string;
  /** The names of the tools that the explorer calls when it runs as an MCP App. */
  readonly app: AppTools;
  /** The members of a kept result in JSON, if the tool would give the same result to this call now; else undefined. */
  again(request: NamedRequest, ctx: Context): string | undefined;
  /** Ends the searches that are still open. */
  close(): Promise<void>;
}

/** @throws ResourceError `invalid` for an output budget that is too small, TypeError for a prefix that no tool's name can have */
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
  const readers = [
    listTool(setup),
    listTemplatesTool(setup),
    describeTool(setup),
    readTool(setup),
    readEmbeddedTool(setup),
    withIcon('search', search.tool),
    // Whether a mounted server has skills is known only later, so the tool is made for such a server in any case.
    ...(context.mounts.some(({ skills, server }) => skills ?? server) ? [skillTool(setup)] : []),
  ];
  const summarizers = [withIcon('summarize', summarizeTool(context, { prefix }))];
  const subscribers = [
    subscribeTool(setup),
    unsubscribeTool(setup),
    listSubscriptionsTool(setup),
    subscribeListChangesTool(setup),
    unsubscribeListChangesTool(setup),
  ];
  // Tools that cannot work here are not offered (SEC-CAP-1).
  const watch = context.shared !== true && context.mounts.some(({ provider }) => provider.features.watch);
  const others = offer === 'read' ? [] : [...summarizers, ...(watch ? subscribers : [])];
  const tools = [...readers, ...others];
  const read = setup.nameOf('read');
  return {
    tools: tools.map(({ icons: drawn, ...tool }) => withShortSchemas(icons ? { ...tool, icons: drawn } : tool)),
    search: search.tool.name,
    app: { browse: `${prefix}browse`, list: setup.nameOf('list'), describe: setup.nameOf('describe') },
    again: ({ name, arguments: args }, ctx) => (name === read ? readToolAgain(setup, args, ctx) : undefined),
    close: () => search.close(),
  };
}

/** Leaves `$schema` out of the schemas: MCP assumes JSON Schema 2020-12 without it, and models pay for its tokens. */
function withShortSchemas({ inputSchema, outputSchema, ...tool }: Tool): Tool {
  return {
    ...tool,
    inputSchema: withoutDialect(inputSchema),
    ...(outputSchema !== undefined && { outputSchema: withoutDialect(outputSchema) }),
  };
}

function withoutDialect(schema: Schema): Schema {
  if (!isStandardSchema(schema)) return schema;
  const { jsonSchema, ...standard } = schema['~standard'];
  if (jsonSchema === undefined) return schema;
  const input: typeof jsonSchema.input = (options) => {
    const { $schema: _dialect, ...json } = jsonSchema.input(options);
    return json;
  };
  return { '~standard': { ...standard, jsonSchema: { input } } };
}

const withIcon = (name: ToolName, tool: Tool): Tool => ({ ...tool, icons: [iconOf(name)] });
