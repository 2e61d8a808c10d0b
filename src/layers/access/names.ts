/** Under which names something is decided about, beside the one that it is asked for by. */

import type { Resolver } from '../../core/mounts/resolver.ts';
import { publishUri } from '../../core/mounts.ts';
import { foreignSpellings, hasDotSegments } from '../../core/uri/foreign.ts';

export interface OtherNames {
  /** The same thing, or one that it shows: each has to be allowed. */
  readonly same: readonly string[];
  /** Perhaps the same thing: none may be forbidden, and to be allowed nobody has to think of them. */
  readonly possible: readonly string[];
}

/** Undefined where there are none. */
export function otherNames(uri: string, resolver: Resolver | undefined): OtherNames | undefined {
  const found = resolver?.resolve(uri);
  if (found === undefined) return undefined;
  const { provider } = found.mount;
  const also = provider.alsoNamed?.(found.native) ?? [];
  const { normal, possible } = provider.features.foreign === true ? foreignSpellings(found.native) : NO_SPELLINGS;
  if (also.length === 0 && normal.length === 0 && possible.length === 0) return undefined;
  const published = (native: string): string => publishUri(found.mount, native);
  return { same: [...also, ...normal].map(published), possible: possible.map(published) };
}

const NO_SPELLINGS = { normal: [], possible: [] } as const;

/** Whether another server might go up from where the URI seems to lead: then it is taken only as the server lists it. */
export function goesUp(uri: string, resolver: Resolver | undefined): boolean {
  const found = resolver?.resolve(uri);
  return found?.mount.provider.features.foreign === true && hasDotSegments(found.native);
}
