/** A caller's glob over the paths of a search; `!` in front negates it. */
import { invalid } from '../errors.ts';
import { compileGlobs } from './index.ts';
import { GlobError } from './parse.ts';

/**
 * Whether a path below the start of a search matches; without a glob, all do. A glob without a slash applies to names.
 * @throws ResourceError `invalid` for an invalid glob
 */
export function globFilter(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  const negated = glob.startsWith('!');
  const positive = (negated ? glob.slice(1) : glob).replace(/^\/+(?=.)/, '');
  const isName = !glob.includes('/');
  try {
    const compiled = compileGlobs([positive], 'path');
    return (path) => (compiled?.matches(isName ? path.slice(path.lastIndexOf('/') + 1) : path) === true) !== negated;
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    throw invalid(`The glob is not valid: ${error.message}. Write one such as "*.md", "src/**/*.ts" or "{a,b}/[0-9]*"`);
  }
}
