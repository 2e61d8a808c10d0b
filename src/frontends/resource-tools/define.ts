/** Defines a resource tool. All of them share this: names, hints, icons, and errors that tell a model what to call instead. */

import { isAsked } from '../../core/asking/needed.ts';
import type { Schema } from '../../core/schema/schema.ts';
import { defineTool, type Tool, type ToolDefinition } from '../../core/tool.ts';
import type { ToolAnnotations } from '../../protocol/content.ts';
import { advised } from './advice.ts';
import { iconOf } from './icons.ts';
import type { ToolName } from './names.ts';
import type { ToolSetup } from './setup.ts';

/** The hints of a tool that changes nothing. */
export const READER: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };

/** The hints of a tool that changes the client's subscriptions, but no resource. Calling it twice does the same as once. */
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
        throw isAsked(error, invocation) ? error : advised(error, setup);
      }
    },
  });
}
