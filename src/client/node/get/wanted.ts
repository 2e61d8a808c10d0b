/** Which resources are wanted: those that globs of the caller include, without those that others exclude. */
import { ResourceError } from '../../../core/errors.ts';
import { globFilter } from '../../../core/glob/filter.ts';
import { ResourceClientError } from '../../errors.ts';
import type { WalkVerdict } from '../../walk.ts';
import { namesTo } from './names.ts';
import type { GetOptions } from './report.ts';

/** @returns what a walk does with a resource. What matches covers what is below it. */
export type Wanted = (uri: string) => Exclude<WalkVerdict, 'give'>;

/**
 * @param start the URI that is got, where it is one: paths are those below it
 * @throws ResourceClientError `invalid` for a glob that is none
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

/** Whether one of the paths matches one of the globs; undefined without globs. */
function matcherOf(globs: readonly string[] = []): ((paths: readonly string[]) => boolean) | undefined {
  if (globs.length === 0) return undefined;
  const filters = globs.map(filterOf);
  return (paths) => paths.some((path) => filters.some((fits) => fits(path)));
}

function filterOf(glob: string): (path: string) => boolean {
  if (glob.startsWith('!')) throw wrong(`"${glob}" begins with "!": what is not wanted is excluded`);
  try {
    // A folder may be written with a slash at its end.
    return globFilter(glob.replace(/(?<=.)\/+$/, ''));
  } catch (error) {
    throw error instanceof ResourceError ? wrong(`${error.message}, not ${JSON.stringify(glob)}`) : error;
  }
}

const wrong = (message: string): ResourceClientError => new ResourceClientError('invalid', message);
