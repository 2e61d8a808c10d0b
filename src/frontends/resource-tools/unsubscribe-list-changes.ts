/** The `unsubscribe_list_changes` tool: ends what `subscribe_list_changes` began (CB-8). */
import { z } from 'zod';
import type { Tool } from '../../core/tool.ts';
import { resourceTool } from './define.ts';
import type { ToolSetup } from './setup.ts';

export function unsubscribeListChangesTool(setup: ToolSetup): Tool {
  return resourceTool(setup, {
    name: 'unsubscribe_list_changes',
    title: 'Unsubscribe from changes of the list',
    description: 'Stops counting resources that appear or disappear.',
    changes: 'subscriptions',
    inputSchema: z.strictObject({}),
    run: async (_, ctx) =>
      (await setup.subscriptions.remove(undefined, ctx))
        ? 'Unsubscribed from changes of the list.'
        : 'You had not subscribed to changes of the list.',
  });
}
