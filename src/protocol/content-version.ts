/**
 * Versions of contents on the wire, in the form of HTTP's entity tags (RFC 9110 8.8.3). A strong version, `"…"`, stands for
 * exactly these bytes. A weak one, `W/"…"`, comes from file times and the like, and is only as reliable as they are.
 */
import { isData } from './data.ts';
import { NOT_MODIFIED_META_KEY, VERSION_META_KEY } from './meta.ts';

/** The most characters of a version that another program sends. */
export const MAX_VERSION_LENGTH = 256;

/** The most contents of an answer whose versions are compared; those of an answer with more are not. */
export const MAX_VERSIONS = 1_000;

const TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/;

/** Whether a value that another program sent is a version. */
export const isContentVersion = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_VERSION_LENGTH && TAG.test(value);

export const isWeakVersion = (version: string): boolean => version.startsWith('W/');

/** The version of an item of contents; undefined if it has none. */
export function versionIn(item: unknown): string | undefined {
  const meta = isData(item) ? item._meta : undefined;
  const version = isData(meta) ? meta[VERSION_META_KEY] : undefined;
  return isContentVersion(version) ? version : undefined;
}

/** The versions of all contents of an answer, in order; undefined if one has none, or if there are no contents or too many. */
export function versionsIn(result: object): readonly string[] | undefined {
  const contents: unknown = 'contents' in result ? result.contents : undefined;
  if (!Array.isArray(contents) || contents.length === 0 || contents.length > MAX_VERSIONS) return undefined;
  const versions = contents.map(versionIn).filter((version) => version !== undefined);
  return versions.length === contents.length ? versions : undefined;
}

/** Whether an answer to a read with `vitrine/ifVersion` says that the client already has the current contents. */
export function isNotModified(result: object): boolean {
  const meta: unknown = '_meta' in result ? result._meta : undefined;
  return isData(meta) && meta[NOT_MODIFIED_META_KEY] === true;
}
