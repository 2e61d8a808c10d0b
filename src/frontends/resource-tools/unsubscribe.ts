/** The `unsubscribe` tool ends a subscription that `subscribe` made (CB-8). */
import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Tool } from '../../core/tool.ts';
import { splitLines } from '../resources/line-uri.ts';
import { readMetadata } from '../resources/metadata.ts';
import { resourceTool } from './define.ts';
import { oneLine } from './facts.ts';
import { uriArgument } from './schemas.ts';
import type { ToolSetup } from './setup.ts';

const input = z.strictObject({ uri: uriArgument.describe('What was subscribed to') });

export function unsubscribeTool(setup: ToolSetup): Tool {
  return resourceTool(setup, {
    name: 'unsubscribe',
    title: 'Unsubscribe from a resource',
    description: 'Takes no more note of changes of a resource.',
    changes: 'subscriptions',
    inputSchema: input,
    run: ({ uri }, ctx) => unsubscribe(setup, splitLines(uri).resource, ctx),
  });
}

async function unsubscribe(setup: ToolSetup, uri: string, ctx: Context): Promise<string> {
  const { subscriptions, nameOf } = setup;
  const subject = subscriptions.has(uri, ctx) ? uri : await canonical(setup, uri, ctx);
  return (await subscriptions.remove(subject, ctx))
    ? oneLine(`Unsubscribed from ${subject}.`)
    : oneLine(`You had not subscribed to ${uri}; ${nameOf('list_subscriptions')} shows what you have subscribed to.`);
}

/** The URI in the spelling of its provider, under which subscriptions are kept. The resource may be gone or denied by now. */
async function canonical({ resources }: ToolSetup, uri: string, ctx: Context): Promise<string> {
  try {
    return (await readMetadata(resources, { uri }, { ...ctx, purpose: 'subscribe' })).resource.uri;
  } catch (error) {
    if (error instanceof ResourceError && (error.code === 'not-found' || error.code === 'denied')) return uri;
    throw error;
  }
}
