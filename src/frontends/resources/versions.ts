/** Gives contents their versions, and compares these with the versions that the client already has. */
import type { ResourceBody } from '../../core/body.ts';
import { publishedVersion } from '../../core/content-version.ts';
import { VERSION_META_KEY } from '../../protocol/meta.ts';
import type { Resource } from '../../protocol/resources.ts';

/**
 * The version of the item that a body is sent as. It changes with the bytes and the metadata, but not with icons or with the
 * spelling of the requested URI.
 * @param part the requested window or lines
 */
export function versionOfItem({ content, resource, item, child }: ResourceBody, part?: object): string | undefined {
  const described = part === undefined ? (item ?? resource) : resource;
  const uri = child === true ? described.uri : undefined;
  return publishedVersion(content, [
    { ...described, uri, icons: undefined, text: undefined, blob: undefined },
    part ?? null,
  ]);
}

/** The item with its version in `_meta`. */
export const withVersion = <T extends Pick<Resource, '_meta'>>(item: T, version: string | undefined): T =>
  version === undefined ? item : { ...item, _meta: { ...item._meta, [VERSION_META_KEY]: version } };

/** Whether these are the versions of the contents that the client has. */
export const isHeld = (versions: readonly (string | undefined)[], held: readonly string[] | undefined): boolean =>
  held !== undefined && versions.length === held.length && versions.every((version, at) => version === held[at]);
