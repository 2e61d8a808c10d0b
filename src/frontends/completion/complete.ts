/** `completion/complete` for the variables of resource templates and the arguments of prompts (RES-3, SEC-UTIL-5). */

import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import { keyed } from '../../core/keyed.ts';
import { noSuchPrompt } from '../../core/prompt.ts';
import type { CompletionValues } from '../../core/provider.ts';
import type { CompleteParams } from '../../protocol/methods.ts';
import type { PromptRegistry } from '../prompts/registry.ts';
import type { ResourceOptions } from '../resources/options.ts';

export interface CompleteResult {
  readonly completion: { readonly values: readonly string[]; readonly total?: number; readonly hasMore: boolean };
}

export async function complete(
  options: ResourceOptions,
  prompts: PromptRegistry,
  params: CompleteParams,
  ctx: Context,
): Promise<CompleteResult> {
  if (params.ref.type === 'ref/prompt') return completePrompt(prompts, params.ref.name, params, options, ctx);
  if (options.provider.complete === undefined) throw invalid('Nothing here has templates to complete', params.ref.uri);
  const completed = await options.provider.complete(
    {
      uriTemplate: params.ref.uri,
      variable: params.argument.name,
      value: params.argument.value,
      known: keyed(params.context?.arguments),
      limit: options.limits.maxCompletions,
    },
    ctx,
  );
  return resultOf(completed);
}

const resultOf = ({ values, total, hasMore, others }: CompletionValues): CompleteResult => ({
  ...others?.result,
  completion: { ...others?.completion, values, hasMore, ...(total !== undefined && { total }) },
});

async function completePrompt(
  prompts: PromptRegistry,
  name: string,
  { argument, context }: CompleteParams,
  options: ResourceOptions,
  ctx: Context,
): Promise<CompleteResult> {
  const prompt = (await prompts.list(ctx)).find((each) => each.name === name);
  if (prompt === undefined) {
    const server = prompts.serverOf(name);
    if (server === undefined) throw noSuchPrompt(name);
    const asked = { prompt: name, argument: argument.name, value: argument.value, known: keyed(context?.arguments) };
    return resultOf(await server.completePrompt(asked, ctx));
  }
  if (!prompt.arguments?.some((each) => each.name === argument.name)) {
    throw invalid(`The prompt ${name} has no argument ${JSON.stringify(argument.name)}`);
  }
  const all = (await prompt.complete?.(argument.name, argument.value, keyed(context?.arguments), ctx)) ?? [];
  const values = all.slice(0, options.limits.maxCompletions);
  return { completion: { values, total: all.length, hasMore: all.length > values.length } };
}
