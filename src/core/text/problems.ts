/** Puts the problems that a schema has found into words. */
import { scrub } from './scrub.ts';

/** A problem that a schema has found, with the place of the problem. */
export interface Problem {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Describes problems in one line. Control characters are removed, because the texts may contain names that the client sent. */
export const sayProblems = (problems: readonly Problem[], between = ', '): string =>
  scrub(problems.map(problemText).join(between));

function problemText({ message, path = [] }: Problem): string {
  if (path.length === 0) return message;
  return `${path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')}: ${message}`;
}
