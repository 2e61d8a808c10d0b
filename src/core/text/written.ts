/** Results whose JSON is there already: whoever sends one does not write it again. */
const written = new WeakMap<object, string>();

/** @param members the result as JSON, without its braces and without hints of freshness; at least one */
export function markWritten<T extends object>(result: T, members: string): T {
  written.set(result, members);
  return result;
}

/** The members of a result in JSON, where they have been written; not for one that was made of it. */
export const writtenMembers = (result: object): string | undefined => written.get(result);
