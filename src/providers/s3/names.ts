/**
 * Converts between keys and URIs. A key is any text. Its parts between slashes become the segments of a path. A part that
 * cannot be a segment, such as `..` or an empty one, is written in an escaped form. So each key has exactly one URI, and so has
 * each prefix, whose URI ends in a slash: in a bucket, `a`, `a/` and `a//` are three different things.
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
 * Parses `s3://bucket/folder`. The folder is taken as the beginning of keys, without decoding.
 * @throws ResourceError `invalid`, without quoting the text, which may contain a secret
 */
export function parseLocation(text: string): Location {
  const [, bucket = '', folder = ''] = /^s3:\/\/([^/]*)(?:\/([\s\S]*))?$/i.exec(text) ?? [];
  if (!BUCKET.test(bucket)) throw invalid('A bucket is written as s3://bucket, or s3://bucket/folder');
  return { bucket, prefix: folder === '' || folder.endsWith('/') ? folder : `${folder}/` };
}

/** The key or prefix that a URI names, relative to the root. A key without a slash at its end may also mean the folder. */
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
 * Whether a key has parts such as `..` or an empty one. Stores that keep objects as files take `a/../b` or `a//b` for another
 * key, so such a key counts only if a list of the store has it.
 */
export const hasOddParts = (key: string): boolean => key.split('/').some((part) => segmentOfName(part) !== part);

/** The URI of a key. */
export const uriOfKey = (key: string): string => treeUri(SCHEME, key.split('/').map(segmentOfName));

/** The URI of a prefix that ends in a slash, or of the root, which is the empty one. */
export const uriOfPrefix = (prefix: string): string =>
  prefix === '' ? treeUri(SCHEME, []) : `${uriOfKey(prefix.slice(0, -1))}/`;

/** Returns the name of a key, or of a prefix without its slash: the last part, as the segment that stands for it. */
export const nameOfKey = (key: string): string => segmentOfName(lastPart(key));

/** Returns the part of a key after its last slash. */
export const lastPart = (key: string): string => key.slice(key.lastIndexOf('/') + 1);
