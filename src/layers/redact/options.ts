/** The options of redaction, and the resources that they apply to. */
import { invalid } from '../../core/errors.ts';
import { compileGlobs, globProblem } from '../../core/glob/index.ts';

export interface RedactOptions {
  /** Globs over published URIs: only these resources are scanned. Default: all. */
  readonly uris?: readonly string[] | undefined;
  /** Globs over published URIs that are not scanned. Default: none. */
  readonly except?: readonly string[] | undefined;
  /** `redact` (default): each secret is covered; `refuse`: a read with a secret in it fails. */
  readonly action?: 'redact' | 'refuse' | undefined;
  /** The most bytes that are scanned at once; a larger resource can be read in windows only. Default: 8,388,608. */
  readonly maxBytes?: number | undefined;
}

/** More than the default of `limits.maxReadBytes`. */
export const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;

/** Parts of a URI that some servers resolve to another resource: dot segments, and escaped slashes, dots and percent signs. */
const LEADS_ELSEWHERE = /(?:^|\/)\.{1,2}(?:[/?#]|$)|%(?:2e|2f|5c|25)|\\|\/\//i;

/**
 * Decides whether a resource is scanned, and includes it in case of doubt: `uris` includes every possible match, `except`
 * excludes only sure matches, and never a URI that may lead to another resource.
 * @throws ResourceError `invalid` for an ambiguous glob
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
