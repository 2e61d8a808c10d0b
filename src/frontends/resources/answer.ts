/** Adds the notes of its providers to an answer: how fresh it is, and which parts are missing. */
import type { Context } from '../../core/context.ts';
import { createNotes } from '../../core/notes.ts';
import type { CacheHint } from '../../protocol/resources.ts';

/** Runs an operation whose providers may note something, and gives its result with the notes. */
export async function answering<C extends Context, T extends object>(
  { cacheHint }: { readonly cacheHint: CacheHint },
  ctx: C,
  run: (ctx: C) => Promise<T>,
): Promise<T & CacheHint> {
  const notes = createNotes();
  const result = await run({ ...ctx, notes });
  return notes.finish(result, cacheHint);
}
