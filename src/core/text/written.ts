/** Remembers results that have already been written as JSON, so that sending one does not write it again. */
const written = new WeakMap<object, string>();

/** @param members the members of the result as JSON, at least one, without braces and without hints of freshness */
export function markWritten<T extends object>(result: T, members: string): T {
  written.set(result, members);
  return result;
}

/** Returns the members of a result as JSON; undefined if they were not marked. A copy of a marked result is not marked. */
export const writtenMembers = (result: object): string | undefined => written.get(result);
