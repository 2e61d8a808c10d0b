/** `prompts/list` and `prompts/get`, over any prompts. */

import { sendablePrompt } from '../../core/content-blocks.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { Invocation } from '../../core/invocation.ts';
import { keyed } from '../../core/keyed.ts';
import { noSuchPrompt, type Prompt } from '../../core/prompt.ts';
import { withRoots } from '../../core/roots.ts';
import type { GetPromptResult, PromptDescription } from '../../protocol/content.ts';
import { type InputRequired, isInputRequired } from '../../protocol/input-required.ts';
import type { GetPromptParams, ListPromptsParams } from '../../protocol/methods.ts';
import type { CacheHint } from '../../protocol/resources.ts';
import { answering } from '../resources/answer.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from '../resources/options.ts';
import type { PromptRegistry } from './registry.ts';

/** Characters of one argument. */
export const MAX_ARGUMENT_LENGTH = 32_768;

export interface ListPromptsResult extends CacheHint {
  readonly prompts: readonly PromptDescription[];
  readonly nextCursor?: string;
}

export function listPrompts(
  registry: PromptRegistry,
  options: ResourceOptions,
  params: ListPromptsParams,
  ctx: Context,
): Promise<ListPromptsResult> {
  const scope = scopeOf(ctx, 'prompts/list');
  return answering(options, ctx, async (noted) => {
    const cursor = openCursor(options, params.cursor, scope);
    const page = await registry.page({ cursor, limit: options.limits.pageSize }, noted);
    return { prompts: page.items, ...nextCursor(options, page.nextCursor, scope) };
  });
}

/** @throws ResourceError `invalid` for a prompt that is not there, or arguments that it does not take */
export async function getPrompt(
  registry: PromptRegistry,
  params: GetPromptParams,
  invocation: Invocation,
): Promise<GetPromptResult | InputRequired> {
  const prompt = (await registry.list(invocation)).find((each) => each.name === params.name);
  if (prompt === undefined) {
    const server = registry.serverOf(params.name);
    if (server !== undefined) return server.getPrompt(params, invocation);
    throw noSuchPrompt(params.name);
  }
  const values = checkArguments(prompt, keyed(params.arguments));
  return withRoots(invocation, async (rooted) => {
    const result = await prompt.get(values, rooted);
    return isInputRequired(result) ? result : sendablePrompt(result);
  });
}

/** Tab and line breaks are text; every other control character is not (SEC-PROMPT-1). */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

function checkArguments(prompt: Prompt, given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const declared = prompt.arguments ?? [];
  for (const [name, value] of Object.entries(given)) {
    if (!declared.some((argument) => argument.name === name)) {
      const known = declared.map((argument) => argument.name).join(', ');
      throw invalid(
        `The prompt ${prompt.name} takes no argument ${JSON.stringify(name)}; it takes ${known === '' ? 'none' : known}`,
      );
    }
    if (value.length > MAX_ARGUMENT_LENGTH)
      throw invalid(`The argument ${name} has more than ${MAX_ARGUMENT_LENGTH} characters`);
    if (CONTROL.test(value) || !value.isWellFormed())
      throw invalid(`The argument ${name} has control characters in it`);
  }
  const missing = declared.filter((argument) => argument.required && !Object.hasOwn(given, argument.name));
  if (missing.length > 0)
    throw invalid(`The prompt ${prompt.name} needs ${missing.map((argument) => argument.name).join(', ')}`);
  return given;
}
