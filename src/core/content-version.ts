/**
 * Versions of contents inside. One belongs to one `BodyContent`, and no copy of that has it: a layer that makes another content
 * gives none, unless it says that the bytes are the same, or makes a version of its own (decision 52).
 */
import { createHash } from 'node:crypto';
import { isWeakVersion } from '../protocol/content-version.ts';

/** The most bytes that a version is made of where nobody knows another one: it takes a millisecond. */
const MAX_DIGESTED_BYTES = 1024 * 1024;

/** A version, or how to find it out when somebody wants it. */
type Version = string | undefined | (() => string | undefined);

const versions = new WeakMap<object, Version>();

/** Makes a version of JSON values that are others for each other content. @param weak they are nearly sure to be */
export function versionFrom(facts: readonly unknown[], weak = false): string {
  const hash = createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 22);
  return weak ? `W/"${hash}"` : `"${hash}"`;
}

/** Returns the strong version that bytes in memory have by themselves; undefined for many bytes. */
export const versionOfBytes = (bytes: Uint8Array): string | undefined =>
  bytes.byteLength > MAX_DIGESTED_BYTES ? undefined : `"${createHash('sha256').update(bytes).digest('base64url')}"`;

/**
 * Says which version a `BodyContent` is of: that of the whole resource, also for a window of it.
 * @returns `content`
 */
export function versioned<C extends object>(content: C, version: Version): C {
  if (version !== undefined) versions.set(content, version);
  return content;
}

/** The version of a content; undefined where nobody knows one. */
export function versionOf(content: object): string | undefined {
  const version = versions.get(content);
  return typeof version === 'function' ? version() : version;
}

/** Says that a content has the very bytes of another one, of which it was made. @returns `content` */
export const sameBytes = <C extends object>(content: C, from: object): C => versioned(content, versions.get(from));

/**
 * Returns the version that is published of a content: another one where the bytes differ, or anything that is said with them.
 * @param said the JSON that goes with the bytes, such as their metadata and the window that was asked for
 */
export function publishedVersion(content: object, said: readonly unknown[]): string | undefined {
  const version = versionOf(content);
  return version === undefined ? undefined : versionFrom([version, ...said], isWeakVersion(version));
}
