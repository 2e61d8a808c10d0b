/** Answers `prompts/list`. The operation `getPrompt` itself answers `prompts/get`. */
import type { Context } from '../../core/context.ts';
import type { NamedOperations } from '../../core/operations.ts';
import type { ListPromptsParams } from '../../protocol/methods.ts';
import type { ResourceOptions } from '../resources/options.ts';
import { answerPage } from '../resources/paged.ts';

export const listPrompts = (
  operations: Pick<NamedOperations, 'listPrompts'>,
  options: ResourceOptions,
  { cursor }: ListPromptsParams,
  ctx: Context,
) =>
  answerPage(options, 'prompts/list', cursor, ctx, async (page, noted) => {
    const { items, nextCursor } = await operations.listPrompts(page, noted);
    return [{ prompts: items.map(({ described }) => described) }, nextCursor];
  });
