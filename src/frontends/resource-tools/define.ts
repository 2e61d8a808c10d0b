/** What the resource tools have in common: names, hints, icons, and errors that tell a model how to do better. */
import type { Schema } from '../../core/schema.ts';
import { defineTool, type Tool, type ToolDefinition } from '../../core/tool.ts';
import type { ToolAnnotations } from '../../protocol/content.ts';
import { advised } from './advice.ts';
import { iconOf } from './icons.ts';
import type { ResourceToolContext } from './index.ts';

export const TOOL_NAMES = [
  'list',
  'list_templates',
  'describe',
  'read',
  'read_embedded',
  'search',
  'summarize',
  'subscribe',
  'unsubscribe',
  'list_subscriptions',
  'subscribe_list_changes',
  'unsubscribe_list_changes',
] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

/** What a tool works with. */
export interface ToolSetup extends ResourceToolContext {
  /** Bytes that an answer may put into a model's context unless it is told otherwise. */
  readonly outputBytes: number;
  /** The name under which a tool is listed, prefix included. */
  readonly nameOf: (tool: ToolName) => string;
}

/** Looks, and changes nothing. */
export const READER: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };

/** Changes what this client has subscribed to, and no resource; twice is as good as once. */
const SUBSCRIBER: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

interface Definition<S extends Schema> extends Omit<ToolDefinition<S>, 'name' | 'icons' | 'annotations'> {
  readonly name: ToolName;
  readonly changes: 'nothing' | 'subscriptions';
}

export function resourceTool<const S extends Schema>(setup: ToolSetup, definition: Definition<S>): Tool {
  const { name, changes, ...rest } = definition;
  return defineTool<S>({
    ...rest,
    name: setup.nameOf(name),
    icons: [iconOf(name)],
    annotations: changes === 'nothing' ? READER : SUBSCRIBER,
    async run(args, invocation) {
      try {
        return await definition.run(args, invocation);
      } catch (error) {
        throw advised(error, setup);
      }
    },
  });
}

/** How a tool is called, in a form that a model can copy: `read {"uri":"docs+file:///a.md"}`. */
export function callOf(setup: ToolSetup, tool: ToolName, args: Readonly<Record<string, unknown>>): string {
  return `${setup.nameOf(tool)} ${JSON.stringify(args)}`;
}
