/**
 * Keys and their URIs. A key is any text: its parts between slashes are the segments of a path, and a part that cannot be
 * one, such as `..` or nothing at all, has a segment that stands for it. So each key has one URI, and each prefix that
 * ends in a slash one that does, too: in a bucket `a`, `a/` and `a//` are three things.
 */
import { invalid } from '../../core/errors.ts';
import { nameOfSegment, parseTreeUri, segmentOfName, treeUri } from '../../core/uri.ts';

export const SCHEME = 's3';

/** The most bytes of a key. */
export const MAX_KEY_BYTES = 1_024;

/** The bucket, and the prefix that all keys begin with: empty, or with a slash at its end. */
export interface Location {
  readonly bucket: string;
  readonly prefix: string;
}

const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/;

/**
 * Takes `s3://bucket/folder` apart. The folder is a part of a key as it stands, and nothing in it is decoded.
 * @throws ResourceError `invalid`, without what was given: it may have a secret in it
 */
export function parseLocation(text: string): Location {
  const [, bucket = '', folder = ''] = /^s3:\/\/([^/]*)(?:\/([\s\S]*))?$/i.exec(text) ?? [];
  if (!BUCKET.test(bucket)) throw invalid('A bucket is written as s3://bucket, or s3://bucket/folder');
  return { bucket, prefix: folder === '' || folder.endsWith('/') ? folder : `${folder}/` };
}

/** A prefix or key that a URI names, relative to the root. A key without a slash may also mean the prefix with one. */
export interface Named {
  readonly key: string;
  readonly isPrefix: boolean;
}

/** @throws ResourceError `invalid` */
export function parseKeyUri(uri: string): Named {
  const { segments, trailingSlash } = parseTreeUri(uri, SCHEME);
  const key = segments.map((segment) => nameOfSegment(segment, uri)).join('/');
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw invalid(`A key has at most ${MAX_KEY_BYTES} bytes`, uri);
  if (segments.length === 0) return { key: '', isPrefix: true };
  return trailingSlash ? { key: `${key}/`, isPrefix: true } : { key, isPrefix: false };
}

/**
 * Some stores keep objects as files, and take `a/../b`, `a//b` and the like for another key. A key with such parts counts
 * only where it is listed: lists have the keys that there are.
 */
export const hasOddParts = (key: string): boolean => key.split('/').some((part) => segmentOfName(part) !== part);

/** The URI of a key. */
export const uriOfKey = (key: string): string => treeUri(SCHEME, key.split('/').map(segmentOfName));

/** The URI of a prefix that ends in a slash, or of the root, which is the empty one. */
export const uriOfPrefix = (prefix: string): string =>
  prefix === '' ? treeUri(SCHEME, []) : `${uriOfKey(prefix.slice(0, -1))}/`;

/** The name of a key, or of a prefix without its slash: the part behind the last slash, as a segment can hold it. */
export const nameOfKey = (key: string): string => segmentOfName(lastPart(key));

/** The same as it is in the key. */
export const lastPart = (key: string): string => key.slice(key.lastIndexOf('/') + 1);
