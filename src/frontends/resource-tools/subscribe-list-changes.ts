/** The `subscribe_list_changes` tool subscribes to changes of the list: resources that come and go (CB-8). */
import { z } from 'zod';
import type { Tool } from '../../core/tool.ts';
import { resourceTool } from './define.ts';
import type { ToolSetup } from './setup.ts';

export function subscribeListChangesTool(setup: ToolSetup): Tool {
  const { operations, subscriptions, nameOf } = setup;
  return resourceTool(setup, {
    name: 'subscribe_list_changes',
    title: 'Subscribe to changes of the list',
    description: `Takes note from now on when resources appear or disappear; ${nameOf('list_subscriptions')} tells of it.`,
    changes: 'subscriptions',
    inputSchema: z.strictObject({}),
    async run(_, ctx) {
      const isNew = await subscriptions.add(
        undefined,
        (onChange) => operations.subscribe({ list: 'resources' }, onChange, ctx),
        ctx,
      );
      return isNew
        ? `Subscribed to changes of the list. ${nameOf('list_subscriptions')} tells whether it has changed.`
        : 'You have already subscribed to changes of the list.';
    },
  });
}
