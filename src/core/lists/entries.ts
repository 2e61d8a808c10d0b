/**
 * Lets layers handle the entries of a list one by one. If a layer fails at an entry, only that entry is left out: the log names
 * it, and the answer says that one is missing. Every layer that changes or filters entries uses this module.
 */
import type { Resource, ResourceTemplate } from '../../protocol/resources.ts';
import type { Context } from '../context.ts';
import { ResourceError } from '../errors.ts';

/** Whether an error answers the whole request: the client must know of it, or has aborted. Any other error costs one entry only. */
const isAnswer = (error: unknown, { signal }: Pick<Context, 'signal'>): boolean =>
  signal.aborted || (error instanceof ResourceError && error.code !== 'internal');

/**
 * Changes each entry with `make`, and leaves out an entry if `make` fails at it.
 * @throws ResourceError any that `make` throws, except `internal`; after an abort, whatever `make` throws
 */
export function mapEntries<T extends Resource | ResourceTemplate>(
  entries: readonly T[],
  make: (entry: T) => T,
  ctx: Context,
): readonly T[] {
  const made: T[] = [];
  for (const entry of entries) {
    try {
      made.push(make(entry));
    } catch (error) {
      loseEntry(entry, error, ctx);
    }
  }
  return made;
}

/**
 * Records that an entry is left out because a layer failed at it. Only the log names the entry, since the caller may not be
 * allowed to know its name.
 * @throws the error itself if it answers the whole request
 */
export function loseEntry(entry: unknown, error: unknown, ctx: Context): void {
  if (isAnswer(error, ctx)) throw error;
  const { uri, uriTemplate, name } = entry as Readonly<Record<string, unknown>>;
  ctx.log.error('an entry is left out of a list: a layer failed at it', {
    entry: uri ?? uriTemplate ?? name,
    requestId: ctx.requestId,
    error,
  });
  ctx.notes?.missing({ reason: `An entry is left out; the server log has the cause under ${ctx.requestId}` });
}
