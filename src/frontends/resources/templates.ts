/** Answers `resources/templates/list`: the RFC 6570 templates of every mount. */
import type { Context } from '../../core/context.ts';
import type { TemplatesParams } from '../../protocol/methods.ts';
import type { ResourceOptions } from './options.ts';
import { answerPage } from './paged.ts';

export const listTemplates = (options: ResourceOptions, { cursor }: TemplatesParams, ctx: Context) =>
  answerPage(options, 'resources/templates/list', cursor, ctx, async (page, noted) => {
    const { resourceTemplates = [], nextCursor } = (await options.provider.listTemplates?.(page, noted)) ?? {};
    return [{ resourceTemplates }, nextCursor];
  });
