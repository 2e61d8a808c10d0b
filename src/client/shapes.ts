/** Makes reliable data of answers of servers: supplies missing fields, leaves invalid ones out, and keeps the rest. */
export { ancestorsOf, identityOf } from '../connection/uris.ts';
export { insideOf } from '../core/uri.ts';

import { MAX_URI_LENGTH, nameOfUri } from '../core/uri.ts';
import { isData } from '../protocol/data.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../protocol/resources.ts';
import type { Data } from './link.ts';

/** A resource with all fields that the server sent. */
export type ListedResource = Resource & Data;

/**
 * Returns a resource as the server describes it; undefined for a value that cannot be one. A valid value is not copied.
 * @param uri the URI of the resource, if the value has none
 */
export function resourceIn(value: unknown, uri?: string): ListedResource | undefined {
  if (!isData(value)) return undefined;
  const resourceUri = typeof value.uri === 'string' && value.uri !== '' ? value.uri : uri;
  if (resourceUri === undefined || resourceUri.length > MAX_URI_LENGTH) return undefined;
  if (resourceUri === value.uri && isValid(value)) return value as ListedResource;
  const { size, mimeType, capabilities, annotations, ...rest } = value;
  return {
    ...rest,
    uri: resourceUri,
    name: typeof value.name === 'string' && value.name !== '' ? value.name : (nameOfUri(resourceUri) ?? resourceUri),
    // Callers count and compare with these fields, so an invalid one is left out.
    ...(isSize(size) && { size }),
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(isData(capabilities) && { capabilities }),
    ...(isData(annotations) && { annotations }),
  } as Data as ListedResource;
}

const isSize = (size: unknown): size is number => typeof size === 'number' && size >= 0;

function isValid({ name, size, mimeType, capabilities, annotations }: Data): boolean {
  return (
    typeof name === 'string' &&
    name !== '' &&
    (size === undefined || isSize(size)) &&
    (mimeType === undefined || typeof mimeType === 'string') &&
    (capabilities === undefined || isData(capabilities)) &&
    (annotations === undefined || isData(annotations))
  );
}

/** Whether a resource has children, as its capabilities, its type or a slash after its URI tell. Undefined if none of them does. */
export function isListable({ capabilities, mimeType, uri }: Resource): boolean | undefined {
  if (capabilities?.list !== undefined) return capabilities.list === true;
  if (mimeType === DIRECTORY_MIME_TYPE) return true;
  return uri.endsWith('/') ? true : undefined;
}
