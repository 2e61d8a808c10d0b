/** The URIs of one mount: its provider's own, and those under which they are published, both ways. */
import type { Mount } from './mount.ts';

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

/** The mount's own form of a URI, or URI template, that begins with its prefix; undefined of any other. */
export function nativeUri(mount: Mount, published: string): string | undefined {
  const isUi = UI.test(published);
  const text = isUi ? published.slice('ui://'.length) : published;
  const end = mount.name.length + 1;
  if (!isPrefixed(mount) || text.slice(0, end).toLowerCase() !== `${mount.name}+`) return undefined;
  return isUi ? `ui://${text.slice(end)}` : text.slice(end);
}
