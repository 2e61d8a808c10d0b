/** Keeps results of the `read` tool. A result is given again only while its reads would give the same. */
import type { Context } from '../../../core/context.ts';
import { wrapProvider } from '../../../core/layer.ts';
import type { CallToolResult } from '../../../protocol/content.ts';
import { type GivenBodies, isUnasked } from '../../resources/kept.ts';
import type { ToolSetup } from '../setup.ts';
import { type ReadArguments, readAs } from './forms.ts';

/** Does the same as `readAs`, and keeps the result if all of its reads may be given again. */
export async function readAndKeep(setup: ToolSetup, args: ReadArguments, ctx: Context): Promise<CallToolResult> {
  const { resources } = setup;
  const { kept, provider } = resources;
  if (kept === undefined || !isUnasked(ctx)) return readAs(setup, args, ctx);
  const reads: GivenBodies[] = [];
  let listed = false;
  const recording = wrapProvider(provider, {
    async read(uri, want, within) {
      const bodies = await provider.read(uri, want, within);
      reads.push({ uri, want, bodies });
      return bodies;
    },
    list(...args) {
      listed = true;
      return provider.list(...args);
    },
  });
  const result = await readAs({ ...setup, resources: { ...resources, provider: recording } }, args, ctx);
  // A result that lists children is not kept, because only reads are recorded here.
  return listed || reads.length === 0 || '_meta' in result ? result : kept.keep(keyOf(args), reads, result);
}

/**
 * The members of the kept result in JSON, if the same call would give the same result now; else undefined. Asking about the
 * read is enough: the call also asked for metadata, but access to a resource's metadata comes with access to read it.
 * @param args as the client sent them. They need no check: a call with wrong arguments read nothing, so nothing is kept.
 */
export const readToolAgain = ({ resources: { kept } }: ToolSetup, args: unknown, ctx: Context): string | undefined =>
  isUnasked(ctx) ? kept?.again(keyOf(args), ctx) : undefined;

const keyOf = (args: unknown): string => `tool ${JSON.stringify(args)}`;
