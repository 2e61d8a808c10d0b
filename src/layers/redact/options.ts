/** The options of redaction, and which resources they are about. */
import { invalid } from '../../core/errors.ts';
import { compileGlobs, globProblem } from '../../core/glob/index.ts';

export interface RedactOptions {
  /** Globs over URIs as they are published: only these are looked through. Default: all. */
  readonly uris?: readonly string[] | undefined;
  /** Globs over URIs that are not looked through. Default: none. */
  readonly except?: readonly string[] | undefined;
  /** `redact` (default): a mark is put over each secret; `refuse`: what has one in it is not given. */
  readonly action?: 'redact' | 'refuse' | undefined;
  /** Bytes that are looked through at once; what is larger is given in windows only. Default: 8,388,608. */
  readonly maxBytes?: number | undefined;
}

/** More than a read takes by default (`limits.maxReadBytes`). */
export const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;

/** Parts of a URI that lead elsewhere for some servers: dot segments, and escaped slashes, dots and percent signs. */
const LEADS_ELSEWHERE = /(?:^|\/)\.{1,2}(?:[/?#]|$)|%(?:2e|2f|5c|25)|\\|\/\//i;

/**
 * Whether a resource is looked through. Where that is not sure, it is: `uris` is about whatever could be meant, `except`
 * about what surely is, and never about a URI that could lead elsewhere.
 * @throws ResourceError `invalid` for a glob that does not mean one thing
 */
export function concerning(
  uris: readonly string[] | undefined,
  except: readonly string[] | undefined,
): (uri: string) => boolean {
  const problem = globProblem(uris, 'uri') ?? globProblem(except, 'uri');
  if (problem !== undefined) throw invalid(problem);
  const included = compileGlobs(uris, 'uri');
  const excluded = compileGlobs(except, 'uri');
  const isExcluded = (uri: string): boolean =>
    excluded?.matches(uri) === true && !LEADS_ELSEWHERE.test(uri.replace(/^[^:]*:(?:\/\/[^/]*)?/, ''));
  return (uri) => (included?.mayMatch(uri) ?? true) && !isExcluded(uri);
}
