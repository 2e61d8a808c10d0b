/** Keeps results of the `read` tool. A result is given again only as long as the reads that it was made of would be. */
import type { Context } from '../../../core/context.ts';
import { wrapProvider } from '../../../core/layer.ts';
import type { CallToolResult } from '../../../protocol/content.ts';
import { type GivenBodies, isUnasked } from '../../resources/kept.ts';
import type { ToolSetup } from '../setup.ts';
import { type ReadArguments, readAs } from './forms.ts';

/** Does what `readAs` does, and keeps the result if everything that it was made of may be given again. */
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
 * The members of the kept result in JSON, if the same call would give the same result now; else undefined. Asking about the
 * read is enough: the call also asked for metadata, but access to a resource's metadata comes with access to read it.
 * @param args as the client sent them. They need no check: a call with wrong arguments read nothing, so nothing is kept.
 */
export const readToolAgain = ({ resources: { kept } }: ToolSetup, args: unknown, ctx: Context): string | undefined =>
  isUnasked(ctx) ? kept?.again(keyOf(args), ctx) : undefined;

const keyOf = (args: unknown): string => `tool ${JSON.stringify(args)}`;
