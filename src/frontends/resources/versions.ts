/** Versions of contents on their way out, and reads that want contents only where they are others than the client has. */
import type { ResourceBody } from '../../core/body.ts';
import { publishedVersion } from '../../core/content-version.ts';
import { VERSION_META_KEY } from '../../protocol/meta.ts';
import type { Resource } from '../../protocol/resources.ts';

/**
 * The version of the item that a body is sent as: it changes with the bytes and with what is said of them, except for icons
 * and for the spelling of the URI that was asked for.
 * @param part the window or the lines that are wanted
 */
export function versionOfItem({ content, resource, item, child }: ResourceBody, part?: object): string | undefined {
  const said = part === undefined ? (item ?? resource) : resource;
  const uri = child === true ? said.uri : undefined;
  return publishedVersion(content, [
    { ...said, uri, icons: undefined, text: undefined, blob: undefined },
    part ?? null,
  ]);
}

/** The item with its version in `_meta`. */
export const withVersion = <T extends Pick<Resource, '_meta'>>(item: T, version: string | undefined): T =>
  version === undefined ? item : { ...item, _meta: { ...item._meta, [VERSION_META_KEY]: version } };

/** Whether these are the versions of the contents that the client has. */
export const isHeld = (versions: readonly (string | undefined)[], held: readonly string[] | undefined): boolean =>
  held !== undefined && versions.length === held.length && versions.every((version, at) => version === held[at]);
