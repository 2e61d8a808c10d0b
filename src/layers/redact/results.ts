/**
 * Mounted servers' tools and prompts: what is said of them, and what they give. There are no URIs to go by: all are looked
 * through.
 */

import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { NamedRequest, PromptCompletion } from '../../core/mounted-server.ts';
import type { Page } from '../../core/provider.ts';
import type { PublishedServer } from '../../core/published-server.ts';
import { isInputRequired } from '../../protocol/input-required.ts';
import { counted, refused } from './bodies.ts';
import { CALLED_BY, type LabelOptions, shownEntries, shownValues } from './labels.ts';
import type { Asker } from './scanner.ts';
import { lookThrough } from './texts.ts';

/** Values of one argument that a client gets at most (2026-07-28, completion). */
const MAX_VALUES = 100;

/** The server with what its tools and prompts give under the mark. */
export function redactedServer(server: PublishedServer, options: LabelOptions): PublishedServer {
  // What it says of itself changes while it is served: that is looked up, not copied.
  return Object.create(server, {
    listTools: {
      value: async (page: Page, ctx: Context) => {
        const { tools, ...rest } = await server.listTools(page, ctx);
        return { ...rest, tools: await shownEntries(tools, CALLED_BY.name, options, ctx) };
      },
    },
    callTool: {
      value: async (request: NamedRequest, invocation: Invocation) =>
        redactedResult(await server.callTool(request, invocation), options, invocation),
    },
    listPrompts: {
      value: async (page: Page, ctx: Context) => {
        const { prompts, ...rest } = await server.listPrompts(page, ctx);
        return { ...rest, prompts: await shownEntries(prompts, CALLED_BY.name, options, ctx) };
      },
    },
    getPrompt: {
      value: async (request: NamedRequest, invocation: Invocation) =>
        redactedResult(await server.getPrompt(request, invocation), options, invocation),
    },
    completePrompt: {
      value: async (request: PromptCompletion, ctx: Context) =>
        shownValues(await server.completePrompt(request, ctx), MAX_VALUES, options, ctx),
    },
  }) as PublishedServer;
}

const NOTHING: ReadonlySet<string> = new Set();

/**
 * What a tool or a prompt gives, under the mark.
 * @throws ResourceError `denied` where what has a secret in it is refused, `too-large`, and what the scan throws
 */
export async function redactedResult<T extends object>(result: T, options: LabelOptions, asker: Asker): Promise<T> {
  // What has gone round with the client is the server's own, and comes back as it left.
  const { requestState, ...said } = result as { readonly requestState?: unknown };
  const [looked] = await lookThrough([said], NOTHING, options, asker);
  if (looked === undefined)
    throw new ResourceError(
      'too-large',
      `The result is larger than the ${options.maxBytes} bytes that are looked through for secrets`,
      { details: { limit: options.maxBytes } },
    );
  const { value, findings } = looked;
  if (findings.length === 0) return result;
  if (options.refuse) throw refused(undefined, findings);
  const whole = (requestState === undefined ? value : { ...value, requestState }) as T;
  return isInputRequired(whole) ? whole : counted(whole, findings);
}
