/** Answers `tools/list`. The operation itself answers `tools/call`. */
import type { Context } from '../../core/context.ts';
import type { NamedOperations } from '../../core/operations.ts';
import type { ListToolsParams } from '../../protocol/methods.ts';
import type { ResourceOptions } from '../resources/options.ts';
import { answerPage } from '../resources/paged.ts';

export const listTools = (
  operations: Pick<NamedOperations, 'listTools'>,
  options: ResourceOptions,
  { cursor }: ListToolsParams,
  ctx: Context,
) =>
  answerPage(options, 'tools/list', cursor, ctx, async (page, noted) => {
    const { items, nextCursor } = await operations.listTools(page, noted);
    return [{ tools: items.map(({ described }) => described) }, nextCursor];
  });
