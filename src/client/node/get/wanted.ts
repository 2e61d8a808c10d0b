/** Decides which resources are wanted: those that a glob in `include` matches, without those that one in `exclude` matches. */
import { ResourceError } from '../../../core/errors.ts';
import { globFilter } from '../../../core/glob/filter.ts';
import { ResourceClientError } from '../../errors.ts';
import type { WalkVerdict } from '../../walk.ts';
import { namesTo } from './names.ts';
import type { GetOptions } from './report.ts';

/** Tells a walk what to do with a resource. A glob that matches a resource covers everything below it, too. */
export type Wanted = (uri: string) => Exclude<WalkVerdict, 'give'>;

/**
 * @param start the URI that the run starts at, if it is exactly one: then paths are relative to it
 * @throws ResourceClientError `invalid` for a malformed glob
 */
export function createWanted(start: string | undefined, { include, exclude }: GetOptions): Wanted {
  const included = matcherOf(include);
  const excluded = matcherOf(exclude);
  if (included === undefined && excluded === undefined) return () => true;
  return (uri) => {
    const names = namesTo(uri, start);
    const paths = names.map((_, index) => names.slice(0, index + 1).join('/'));
    if (excluded?.(paths) === true) return false;
    return included?.(paths) === false ? 'descend' : true;
  };
}

/** Returns a test of whether one of the paths matches one of the globs; undefined without globs. */
function matcherOf(globs: readonly string[] = []): ((paths: readonly string[]) => boolean) | undefined {
  if (globs.length === 0) return undefined;
  const filters = globs.map(filterOf);
  return (paths) => paths.some((path) => filters.some((fits) => fits(path)));
}

function filterOf(glob: string): (path: string) => boolean {
  if (glob.startsWith('!')) throw wrong(`"${glob}" begins with "!": use exclude for what is not wanted`);
  try {
    // A folder may be written with a slash at its end.
    return globFilter(glob.replace(/(?<=.)\/+$/, ''));
  } catch (error) {
    throw error instanceof ResourceError ? wrong(`${error.message}, not ${JSON.stringify(glob)}`) : error;
  }
}

const wrong = (message: string): ResourceClientError => new ResourceClientError('invalid', message);
