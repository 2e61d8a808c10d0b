/** The `list_subscriptions` tool lists the subscriptions, and the changes since each of them began (CB-8). */
import { z } from 'zod';
import type { Tool } from '../../core/tool.ts';
import { type CallToolResult, text } from '../../protocol/content.ts';
import { resourceTool } from './define.ts';
import { oneLine } from './facts.ts';
import type { ToolSetup } from './setup.ts';
import type { BookPage, SubscriptionState } from './subscribing/book.ts';

const output = z.object({
  subscriptions: z.array(z.object({ uri: z.string(), changes: z.number() })),
  listChanges: z.object({ changes: z.number() }).optional(),
});

export function listSubscriptionsTool(setup: ToolSetup): Tool {
  return resourceTool(setup, {
    name: 'list_subscriptions',
    title: 'List subscriptions',
    description: 'Shows what you have subscribed to, and how often and when it has changed since.',
    changes: 'nothing',
    inputSchema: z.strictObject({}),
    outputSchema: output,
    run: (_, ctx) => resultOf(setup, setup.subscriptions.of(ctx)),
  });
}

function resultOf({ nameOf }: ToolSetup, page: BookPage): CallToolResult {
  const { subscriptions, listChanges } = page;
  const lines = subscriptions.map((subscription) => oneLine(`${subscription.uri}  ${stateText(subscription)}`));
  if (lines.length === 0) lines.push(`No resource is subscribed to; ${nameOf('subscribe')} does that.`);
  lines.push(
    listChanges === undefined
      ? `Changes of the list are not subscribed to; ${nameOf('subscribe_list_changes')} does that.`
      : `Changes of the list  ${stateText(listChanges)}`,
  );
  return { content: [text(lines.join('\n'))], structuredContent: { ...page } };
}

function stateText({ since, changes, lastChange }: SubscriptionState): string {
  if (lastChange === undefined) return `unchanged since ${since}`;
  return `${changes === 1 ? '1 change' : `${changes} changes`} since ${since}, the last at ${lastChange}`;
}
