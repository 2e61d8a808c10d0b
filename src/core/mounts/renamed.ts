/** Rewrites the URIs in a provider's results to the URIs that a mount or an outer provider shows. */
import { NAMES, type Resource } from '../../protocol/resources.ts';
import type { ResourceBody } from '../body.ts';
import { sameBytes } from '../content-version.ts';
import { ResourceError } from '../errors.ts';
import type { Mount } from './mount.ts';
import { publishUri } from './published-uris.ts';

/** Converts a provider's own URI to the URI that is shown. */
export type Rename = (uri: string) => string;

export function renameResource<T extends Pick<Resource, 'uri' | typeof NAMES>>(resource: T, rename: Rename): T {
  const names = resource[NAMES];
  const uri = rename(resource.uri);
  if (names?.leadsTo === undefined) return { ...resource, uri };
  return { ...resource, uri, [NAMES]: { ...names, leadsTo: names.leadsTo.map(rename) } };
}

export const renameError = (error: unknown, rename: Rename): unknown =>
  error instanceof ResourceError && error.uri !== undefined ? error.withUri(rename(error.uri)) : error;

/** Makes an error of a mount name the URI that the mount publishes. */
export const publishError = (mount: Mount, error: unknown): unknown =>
  renameError(error, (native) => publishUri(mount, native));

export function renameBody(body: ResourceBody, rename: Rename): ResourceBody {
  const resource = renameResource(body.resource, rename);
  const item = body.item === undefined ? {} : { item: renameResource(body.item, rename) };
  if (body.content.kind === 'bytes') return { ...body, ...item, resource };
  const { content } = body;
  async function* renamed(): AsyncIterable<Uint8Array> {
    try {
      yield* content.open();
    } catch (error) {
      throw renameError(error, rename);
    }
  }
  return { ...body, ...item, resource, content: sameBytes({ ...content, open: renamed }, content) };
}
