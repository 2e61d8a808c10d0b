/** Finds the other names of a requested resource: the policy decides about each of them. */

import type { Resolver } from '../../core/mounts/resolver.ts';
import { publishUri } from '../../core/mounts.ts';
import { hasDotSegments } from '../../core/uri/decoding.ts';
import { foreignSpellings } from '../../core/uri/foreign.ts';

export interface OtherNames {
  /** Names of the resource itself, or of one that it shows: access to each has to be allowed. */
  readonly same: readonly string[];
  /** Names that another server may treat as the same resource: forbidding one forbids the resource, but none needs to be allowed. */
  readonly possible: readonly string[];
}

/** Returns undefined for a resource with one name only. */
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

/** Whether another server could read the URI as one of a parent folder. Such a URI is taken only if the server lists it so. */
export function goesUp(uri: string, resolver: Resolver | undefined): boolean {
  const found = resolver?.resolve(uri);
  return found?.mount.provider.features.foreign === true && hasDotSegments(found.native);
}
