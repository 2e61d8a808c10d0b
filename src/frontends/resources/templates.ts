/** `resources/templates/list`: the RFC 6570 templates of every mount. */
import type { Context } from '../../core/context.ts';
import type { TemplatesParams } from '../../protocol/methods.ts';
import type { CacheHint, ResourceTemplate } from '../../protocol/resources.ts';
import { answering } from './answer.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from './options.ts';

export interface TemplatesResult extends CacheHint {
  readonly resourceTemplates: readonly ResourceTemplate[];
  readonly nextCursor?: string;
}

export async function listTemplates(
  options: ResourceOptions,
  params: TemplatesParams,
  ctx: Context,
): Promise<TemplatesResult> {
  const scope = scopeOf(ctx, 'resources/templates/list');
  const cursor = openCursor(options, params.cursor, scope);
  return answering(options, ctx, async (noted) => {
    const wanted = { cursor, limit: options.limits.pageSize };
    const page = (await options.provider.listTemplates?.(wanted, noted)) ?? { resourceTemplates: [] };
    return { resourceTemplates: page.resourceTemplates, ...nextCursor(options, page.nextCursor, scope) };
  });
}
