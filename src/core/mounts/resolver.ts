/**
 * Finds the mount that a published URI belongs to. Routing, access, audit, formats, icons and all other parts use this module: if
 * two parts decided for themselves, access could allow a URI of one mount while routing reads it from another.
 */

import { schemeOf } from '../uri.ts';
import type { Mount } from './mount.ts';
import { ANY_SCHEME, isPrefixed, UI } from './published-uris.ts';

/** The mount and the provider's own URI for a published URI. */
export interface Resolved {
  readonly mount: Mount;
  /** The provider's own URI. */
  readonly native: string;
}

export interface Resolver {
  readonly mounts: readonly Mount[];
  /**
   * Returns the mount of a published URI or URI template, whether or not such a resource exists. It looks for a mount with this
   * prefix, then for one without a prefix that has this scheme, then for one that may have any scheme. The order of mounts
   * does not matter.
   */
  resolve(published: string): Resolved | undefined;
  /** Returns the name of the mount that `resolve` finds. */
  mountOf(published: string): string | undefined;
}

interface Answer {
  readonly published: string;
  readonly resolved: Resolved | undefined;
  /** The schemes of the mounts without a prefix by which the answer was found; none if a prefix decided. */
  readonly schemes: readonly (readonly string[])[];
}

export function createResolver(mounts: readonly Mount[]): Resolver {
  const byName = new Map(mounts.filter(isPrefixed).map((mount) => [mount.name, mount]));
  const longest = Math.max(0, ...[...byName.keys()].map((name) => name.length));
  const bare = mounts.filter((mount) => !isPrefixed(mount));
  // All layers resolve the same URI during a request, so the last answer is used as long as the schemes are still the same.
  let last: Answer | undefined;

  const withScheme = (scheme: string): Mount | undefined =>
    bare.find((mount) => mount.provider.features.schemes.includes(scheme));

  function find(published: string): Resolved | undefined {
    const isUi = UI.test(published);
    const text = isUi ? published.slice('ui://'.length) : published;
    const plus = text.indexOf('+');
    // Text that is longer than every name of a mount is no name.
    const named = plus > 0 && plus <= longest ? byName.get(text.slice(0, plus).toLowerCase()) : undefined;
    if (named !== undefined) {
      const native = text.slice(plus + 1);
      return { mount: named, native: isUi ? `ui://${native}` : native };
    }
    // The schemes are read for each URI, since those of a mounted server may not be known from the start.
    const mount = withScheme(schemeOf(published) ?? '') ?? withScheme(ANY_SCHEME);
    return mount && { mount, native: published };
  }

  function resolve(published: string): Resolved | undefined {
    if (last?.published === published) {
      const { schemes } = last;
      let isCurrent = true;
      for (let at = 0; isCurrent && at < schemes.length; at++)
        isCurrent = bare[at]?.provider.features.schemes === schemes[at];
      if (isCurrent) return last.resolved;
    }
    const resolved = find(published);
    const isByName = resolved !== undefined && isPrefixed(resolved.mount);
    last = { published, resolved, schemes: isByName ? [] : bare.map(({ provider }) => provider.features.schemes) };
    return resolved;
  }

  return { mounts, resolve, mountOf: (published) => resolve(published)?.mount.name };
}
