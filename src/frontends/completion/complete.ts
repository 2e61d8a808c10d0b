/** Answers `completion/complete` for the variables of resource templates and the arguments of prompts (RES-3, SEC-UTIL-5). */

import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import { keyed } from '../../core/keyed.ts';
import type { EngineOperations, Owner } from '../../core/operations.ts';
import type { CompletionValues } from '../../core/provider.ts';
import type { CompleteParams } from '../../protocol/methods.ts';

export interface CompleteResult {
  readonly completion: { readonly values: readonly string[]; readonly total?: number; readonly hasMore: boolean };
}

/**
 * Completes a variable or an argument.
 * @param ownerOf returns the owner of a prompt
 * @param limit the most values of one answer
 * @throws ResourceError `invalid` if no mount has templates to complete, and errors of the operations
 */
export async function complete(
  operations: Pick<EngineOperations, 'complete' | 'completePrompt'>,
  ownerOf: (prompt: string, ctx: Context) => Promise<Owner>,
  { ref, argument, context }: CompleteParams,
  limit: number,
  ctx: Context,
): Promise<CompleteResult> {
  const { name, value } = argument;
  const known = keyed(context?.arguments);
  if (ref.type === 'ref/prompt') {
    const request = { prompt: ref.name, argument: name, value, known };
    return resultOf(await operations.completePrompt(request, await ownerOf(ref.name, ctx), ctx), limit);
  }
  if (operations.complete === undefined) throw invalid('Nothing here has templates to complete', ref.uri);
  const request = { uriTemplate: ref.uri, variable: name, value, known, limit };
  return resultOf(await operations.complete(request, ctx), limit);
}

const resultOf = (completed: CompletionValues, limit: number): CompleteResult => {
  const { total, hasMore, others } = completed;
  const values = completed.values.slice(0, limit);
  const more = hasMore || values.length < completed.values.length;
  return {
    ...others?.result,
    completion: { ...others?.completion, values, ...(total !== undefined && { total }), hasMore: more },
  };
};
