/**
 * Lets layers handle the entries of a list one by one: an entry that a layer fails at is left out alone, named in the log
 * and counted in the answer, and the others are there. Every layer that changes or judges entries does it here.
 */
import type { Resource, ResourceTemplate } from '../../protocol/resources.ts';
import type { Context } from '../context.ts';
import { ResourceError } from '../errors.ts';

/** Errors that say what is wrong with the request, or with what has to be asked for it, are the answer. */
const isAnswer = (error: unknown, { signal }: Pick<Context, 'signal'>): boolean =>
  signal.aborted || (error instanceof ResourceError && error.code !== 'internal');

/**
 * Changes each entry with `make`; one that it fails at is left out.
 * @throws what `make` throws and is meant for the client
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
 * Takes note of an entry that a layer failed at. Its name stays in the log: who asks may not be the one who may know it.
 * @throws the error where it is meant for the client
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
