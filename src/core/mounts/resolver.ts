/**
 * Which mount a published URI belongs to: the only place that answers it, for routing, access, audit, formats, icons and
 * everybody else. Where two parts answered for themselves, one could allow what the other served.
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
   * The mount of a published URI or URI template, whether or not there is such a thing: a prefix comes first, then a mount
   * without a prefix that has this very scheme, then one that may have any. The order of mounts does not matter.
   */
  resolve(published: string): Resolved | undefined;
  /** The name of that mount. */
  mountOf(published: string): string | undefined;
}

export function createResolver(mounts: readonly Mount[]): Resolver {
  const byName = new Map(mounts.filter(isPrefixed).map((mount) => [mount.name, mount]));
  const longest = Math.max(0, ...[...byName.keys()].map((name) => name.length));
  const bare = mounts.filter((mount) => !isPrefixed(mount));
  // Of one request, every layer asks for the same.
  let last: { readonly published: string; readonly resolved: Resolved | undefined } | undefined;

  const withScheme = (scheme: string): Mount | undefined =>
    bare.find((mount) => mount.provider.features.schemes.includes(scheme));

  function find(published: string): Resolved | undefined {
    const isUi = UI.test(published);
    const text = isUi ? published.slice('ui://'.length) : published;
    const plus = text.indexOf('+');
    // A name is short: text before a plus that stands further behind is none.
    const named = plus > 0 && plus <= longest ? byName.get(text.slice(0, plus).toLowerCase()) : undefined;
    if (named !== undefined) {
      const native = text.slice(plus + 1);
      return { mount: named, native: isUi ? `ui://${native}` : native };
    }
    // Asked each time: a server that is mounted may say later which schemes it has.
    const mount = withScheme(schemeOf(published) ?? '') ?? withScheme(ANY_SCHEME);
    return mount && { mount, native: published };
  }

  function resolve(published: string): Resolved | undefined {
    if (last?.published !== published) last = { published, resolved: find(published) };
    return last.resolved;
  }

  return { mounts, resolve, mountOf: (published) => resolve(published)?.mount.name };
}
