/** Answers of servers as data that can be relied on: what is missing is supplied, what is impossible left out, the rest kept. */
import { MAX_URI_LENGTH, nameOfUri } from '../core/uri.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../protocol/resources.ts';
import type { Data } from './link.ts';

/** A resource with whatever else the server says of it. */
export type ListedResource = Resource & Data;

const isObject = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A resource as the server describes it; undefined for what cannot be one. Nothing is copied where all is as it should be. */
export function resourceIn(value: unknown, uri?: string): ListedResource | undefined {
  if (!isObject(value)) return undefined;
  const own = typeof value.uri === 'string' && value.uri !== '' ? value.uri : uri;
  if (own === undefined || own.length > MAX_URI_LENGTH) return undefined;
  if (own === value.uri && isWell(value)) return value as ListedResource;
  const { size, mimeType, capabilities, annotations, ...rest } = value;
  return {
    ...rest,
    uri: own,
    name: typeof value.name === 'string' && value.name !== '' ? value.name : (nameOfUri(own) ?? own),
    // What others count and compare with is what it should be, or not there.
    ...(isSize(size) && { size }),
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(isObject(capabilities) && { capabilities }),
    ...(isObject(annotations) && { annotations }),
  } as Data as ListedResource;
}

const isSize = (size: unknown): size is number => typeof size === 'number' && size >= 0;

function isWell({ name, size, mimeType, capabilities, annotations }: Data): boolean {
  return (
    typeof name === 'string' &&
    name !== '' &&
    (size === undefined || isSize(size)) &&
    (mimeType === undefined || typeof mimeType === 'string') &&
    (capabilities === undefined || isObject(capabilities)) &&
    (annotations === undefined || isObject(annotations))
  );
}

/** Whether a resource says, or its type says, that it has children. Undefined where nothing says anything. */
export function isListable({ capabilities, mimeType, uri }: Resource): boolean | undefined {
  if (capabilities?.list !== undefined) return capabilities.list === true;
  if (mimeType === DIRECTORY_MIME_TYPE) return true;
  return uri.endsWith('/') ? true : undefined;
}

/** Entries of a result; undefined where the result has no such list. */
export function entriesIn(result: Data, field: string): readonly unknown[] | undefined {
  const entries: unknown = result[field];
  return Array.isArray(entries) ? entries : undefined;
}

/** Where a list goes on. Some servers end theirs with an empty cursor. */
export function cursorIn({ nextCursor }: Data): string | undefined {
  return typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined;
}

/** Of a result: how long it may be kept. Undefined where it does not say, as those of the 2025 era. */
export function freshnessIn({ ttlMs, cacheScope }: Data): Freshness | undefined {
  if (typeof ttlMs !== 'number' || !(ttlMs >= 0)) return undefined;
  return { ttlMs, scope: cacheScope === 'public' ? 'public' : 'private' };
}

export interface Freshness {
  readonly ttlMs: number;
  readonly scope: 'public' | 'private';
}

/** The same resource under all spellings of its URI that this client has to tell apart from others. */
export function identityOf(uri: string): string {
  const folded = uri.includes('%') ? uri.replace(/%[0-9a-f]{2}/gi, (triplet) => triplet.toUpperCase()) : uri;
  let end = folded.length;
  while (end > 0 && folded[end - 1] === '/') end--;
  // The root of a scheme is all slashes: `notes:///`.
  return folded[end - 1] === ':' ? folded : folded.slice(0, end);
}

/** What the URIs of everything below a container begin with. */
export const insideOf = (uri: string): string => (uri.endsWith('/') ? uri : `${uri}/`);

/** Containers around a URI that are looked at. */
const MAX_ANCESTORS = 64;

/** The URIs of containers that one may be in, nearest first: what is before each of its slashes. */
export function* ancestorsOf(uri: string): Generator<string> {
  const begin = /^[^:]*:\/{0,2}/.exec(uri)?.[0].length ?? 0;
  let left = MAX_ANCESTORS;
  for (let at = uri.lastIndexOf('/', uri.length - 2); at >= begin; at = uri.lastIndexOf('/', at - 1)) {
    if (left-- === 0) return;
    yield uri.slice(0, at);
    // A root keeps its slash.
    if (uri.indexOf('/', begin) === at) yield uri.slice(0, at + 1);
    if (at === 0) return;
  }
}
