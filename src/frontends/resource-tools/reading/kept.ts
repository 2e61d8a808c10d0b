/** Results of the `read` tool that are kept, as answers to reads are: made of what was read, and given again with that. */
import type { Context } from '../../../core/context.ts';
import { wrapProvider } from '../../../core/layer.ts';
import type { CallToolResult } from '../../../protocol/content.ts';
import { type GivenBodies, isUnasked } from '../../resources/kept.ts';
import type { ToolSetup } from '../setup.ts';
import { type ReadArguments, readAs } from './forms.ts';

/** As `readAs`; the result is kept where all that it was made of may be given again. */
export async function readAndKeep(setup: ToolSetup, args: ReadArguments, ctx: Context): Promise<CallToolResult> {
  const { resources } = setup;
  const { kept, provider } = resources;
  if (kept === undefined || !isUnasked(ctx)) return readAs(setup, args, ctx);
  const taken: GivenBodies[] = [];
  let listed = false;
  const taking = wrapProvider(provider, {
    async read(uri, want, within) {
      const bodies = await provider.read(uri, want, within);
      taken.push({ uri, want, bodies });
      return bodies;
    },
    list(...asked) {
      listed = true;
      return provider.list(...asked);
    },
  });
  const result = await readAs({ ...setup, resources: { ...resources, provider: taking } }, args, ctx);
  // A result that lists children is not kept: nothing here asks whether the list is still the same.
  return listed || taken.length === 0 || '_meta' in result ? result : kept.keep(keyOf(args), taken, result);
}

/**
 * The members of the result in JSON, where the same call would give what it gave before. What it is read for is decided
 * about with the read itself: metadata that are wanted for a read are allowed with it.
 * @param args as they were sent, checked or not: with wrong ones nothing was read
 */
export const readToolAgain = ({ resources: { kept } }: ToolSetup, args: unknown, ctx: Context): string | undefined =>
  isUnasked(ctx) ? kept?.again(keyOf(args), ctx) : undefined;

const keyOf = (args: unknown): string => `tool ${JSON.stringify(args)}`;
