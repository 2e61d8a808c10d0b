/** The URIs of one mount: its provider's own, and those under which they are published, both ways. */
import type { Mount } from './mounts.ts';
import { schemeOf } from './uri.ts';

/** In `features.schemes`: the provider publishes URIs of any scheme, which is not known beforehand. */
export const ANY_SCHEME = '*';

/** Hosts look for these to show them. */
export const UI = /^ui:\/\//i;

/** Whether what a mount publishes begins with its name. */
export const isPrefixed = (mount: Pick<Mount, 'prefix'>): boolean => mount.prefix !== 'none';

/** The URI, or URI template, under which a mount publishes its provider's own. */
export function publishUri(mount: Mount, native: string): string {
  if (!isPrefixed(mount)) return native;
  // Hosts look for `ui://`, so there the mount goes into the authority.
  if (UI.test(native)) return `ui://${mount.name}+${native.slice('ui://'.length)}`;
  return `${mount.name}+${native}`;
}

/** The mount's own form of a URI, or URI template, that it publishes; any other text as it is. */
export function nativeUri(mount: Mount, published: string): string {
  if (!isPrefixed(mount) || !publishes(mount, published)) return published;
  if (!UI.test(published)) return published.slice(mount.name.length + 1);
  return `ui://${published.slice('ui://'.length + mount.name.length + 1)}`;
}

/** Whether a published URI, or URI template, is one of this mount. */
export function publishes(mount: Mount, uri: string): boolean {
  if (!isPrefixed(mount)) {
    const { schemes } = mount.provider.features;
    return schemes.includes(ANY_SCHEME) || schemes.includes(schemeOf(uri) ?? '');
  }
  const text = UI.test(uri) ? uri.slice('ui://'.length) : uri;
  return text.slice(0, mount.name.length + 1).toLowerCase() === `${mount.name}+`;
}

/**
 * The name of the mount that a published URI belongs to. What was found last is remembered: of the URI of one request it
 * is asked again and again.
 */
export function mountFinder(mounts: readonly Mount[]): (uri: string) => string | undefined {
  let last: { readonly uri: string; readonly name: string | undefined } | undefined;
  return (uri) => {
    if (last?.uri !== uri) last = { uri, name: mounts.find((each) => publishes(each, uri))?.name };
    return last.name;
  };
}
