/** Converts between a provider's own URIs and the URIs under which its mount publishes them. */
import type { Mount } from './mount.ts';

/** An element of `features.schemes` that means: the provider's URIs may have any scheme. */
export const ANY_SCHEME = '*';

/** Matches URIs of apps. Hosts recognize an app by this scheme. */
export const UI = /^ui:\/\//i;

/** Whether the URIs and names that a mount publishes begin with its name. */
export const isPrefixed = (mount: Pick<Mount, 'prefix'>): boolean => mount.prefix !== 'none';

/** Returns the URI under which a mount publishes a URI of its provider; likewise for a URI template. */
export function publishUri(mount: Mount, native: string): string {
  if (!isPrefixed(mount)) return native;
  // Hosts recognize an app by `ui://`, so the prefix goes into the authority.
  if (UI.test(native)) return `ui://${mount.name}+${native.slice('ui://'.length)}`;
  return `${mount.name}+${native}`;
}

/** Takes the mount's prefix off a published URI or URI template; undefined if it does not begin with the prefix. */
export function nativeUri(mount: Mount, published: string): string | undefined {
  const isUi = UI.test(published);
  const text = isUi ? published.slice('ui://'.length) : published;
  const end = mount.name.length + 1;
  if (!isPrefixed(mount) || text.slice(0, end).toLowerCase() !== `${mount.name}+`) return undefined;
  return isUi ? `ui://${text.slice(end)}` : text.slice(end);
}
