/** The `subscribe` tool: counts changes of one resource from now on (CB-8). */
import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { Tool } from '../../core/tool.ts';
import { splitLines } from '../resources/line-uri.ts';
import { readMetadata } from '../resources/metadata.ts';
import { SUBSCRIPTIONS_URI } from '../state.ts';
import { resourceTool } from './define.ts';
import { oneLine } from './facts.ts';
import { uriArgument } from './schemas.ts';
import type { ToolSetup } from './setup.ts';

const input = z.strictObject({ uri: uriArgument.describe('The resource, or a directory, for its entries') });

export function subscribeTool(setup: ToolSetup): Tool {
  return resourceTool(setup, {
    name: 'subscribe',
    title: 'Subscribe to a resource',
    description: `Counts changes of a resource from now on; ${setup.nameOf('list_subscriptions')}, or reading ${SUBSCRIPTIONS_URI}, shows them.`,
    changes: 'subscriptions',
    inputSchema: input,
    run: ({ uri }, ctx) => subscribe(setup, splitLines(uri).resource, ctx),
  });
}

async function subscribe(
  { resources, operations, subscriptions, nameOf }: ToolSetup,
  uri: string,
  ctx: Context,
): Promise<string> {
  const { resource } = await readMetadata(resources, { uri }, { ...ctx, purpose: 'subscribe' });
  if (resource.capabilities?.subscribe !== true)
    throw invalid('This resource cannot be subscribed to; read it again to see whether it has changed', uri);
  const watch = (onChange: () => void): Promise<AsyncDisposable> =>
    operations.subscribe({ uri: resource.uri }, onChange, ctx);
  const isNew = await subscriptions.add(resource.uri, watch, ctx);
  return isNew
    ? oneLine(`Subscribed to ${resource.uri}. ${nameOf('list_subscriptions')} tells whether it has changed.`)
    : oneLine(`You were already subscribed to ${resource.uri}.`);
}
