/** Answers of servers as data that can be relied on: what is missing is supplied, what is impossible left out, the rest kept. */
export { ancestorsOf, identityOf } from '../connection/uris.ts';
export { insideOf } from '../core/uri.ts';

import { MAX_URI_LENGTH, nameOfUri } from '../core/uri.ts';
import { isData } from '../protocol/data.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../protocol/resources.ts';
import type { Data } from './link.ts';

/** A resource with whatever else the server says of it. */
export type ListedResource = Resource & Data;

/** A resource as the server describes it; undefined for what cannot be one. Nothing is copied where all is as it should be. */
export function resourceIn(value: unknown, uri?: string): ListedResource | undefined {
  if (!isData(value)) return undefined;
  const own = typeof value.uri === 'string' && value.uri !== '' ? value.uri : uri;
  if (own === undefined || own.length > MAX_URI_LENGTH) return undefined;
  if (own === value.uri && isWell(value)) return value as ListedResource;
  const { size, mimeType, capabilities, annotations, ...rest } = value;
  return {
    ...rest,
    uri: own,
    name: typeof value.name === 'string' && value.name !== '' ? value.name : (nameOfUri(own) ?? own),
    // Others count and compare with these fields: each is valid, or left out.
    ...(isSize(size) && { size }),
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(isData(capabilities) && { capabilities }),
    ...(isData(annotations) && { annotations }),
  } as Data as ListedResource;
}

const isSize = (size: unknown): size is number => typeof size === 'number' && size >= 0;

function isWell({ name, size, mimeType, capabilities, annotations }: Data): boolean {
  return (
    typeof name === 'string' &&
    name !== '' &&
    (size === undefined || isSize(size)) &&
    (mimeType === undefined || typeof mimeType === 'string') &&
    (capabilities === undefined || isData(capabilities)) &&
    (annotations === undefined || isData(annotations))
  );
}

/** Whether a resource says, or its type says, that it has children. Undefined where nothing says anything. */
export function isListable({ capabilities, mimeType, uri }: Resource): boolean | undefined {
  if (capabilities?.list !== undefined) return capabilities.list === true;
  if (mimeType === DIRECTORY_MIME_TYPE) return true;
  return uri.endsWith('/') ? true : undefined;
}
