/** `completion/complete` for the variables of resource templates (RES-3, SEC-UTIL-5). */
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { CompleteParams } from '../../protocol/methods.ts';
import type { ResourceOptions } from '../resources/options.ts';

export interface CompleteResult {
  readonly completion: { readonly values: readonly string[]; readonly total?: number; readonly hasMore: boolean };
}

export async function complete(
  options: ResourceOptions,
  params: CompleteParams,
  ctx: Context,
): Promise<CompleteResult> {
  if (params.ref.type !== 'ref/resource') throw invalid('There is no such prompt');
  if (options.provider.complete === undefined) throw invalid('Nothing here has templates to complete', params.ref.uri);
  const { values, total, hasMore } = await options.provider.complete(
    {
      uriTemplate: params.ref.uri,
      variable: params.argument.name,
      value: params.argument.value,
      known: params.context?.arguments ?? {},
      limit: options.limits.maxCompletions,
    },
    ctx,
  );
  return { completion: { values, hasMore, ...(total !== undefined && { total }) } };
}
