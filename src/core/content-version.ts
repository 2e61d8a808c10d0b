/**
 * Keeps versions of contents within the server. A version belongs to one `BodyContent` object, and a copy of it has none. So a
 * content that a layer makes has no version, unless the layer says that the bytes are the same, or makes a version of its own.
 */
import { createHash } from 'node:crypto';
import { isWeakVersion } from '../protocol/content-version.ts';

/** The most bytes of which a digest is made if there is no other version. A digest of so many bytes takes about a millisecond. */
const MAX_DIGESTED_BYTES = 1024 * 1024;

/** A version, or a function that finds it out when it is wanted. */
type Version = string | undefined | (() => string | undefined);

const versions = new WeakMap<object, Version>();

/**
 * Makes a version of JSON values, which are different for different contents.
 * @param weak whether different contents have the same values in rare cases
 */
export function versionFrom(facts: readonly unknown[], weak = false): string {
  const hash = createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 22);
  return weak ? `W/"${hash}"` : `"${hash}"`;
}

/** Returns a strong version of bytes in memory, which is their digest; undefined if there are too many bytes. */
export const versionOfBytes = (bytes: Uint8Array): string | undefined =>
  bytes.byteLength > MAX_DIGESTED_BYTES ? undefined : `"${createHash('sha256').update(bytes).digest('base64url')}"`;

/**
 * Gives a `BodyContent` its version: that of the whole resource, even if the content is a window of it.
 * @returns `content`
 */
export function versioned<C extends object>(content: C, version: Version): C {
  if (version !== undefined) versions.set(content, version);
  return content;
}

/** Returns the version of a content; undefined if none is known. */
export function versionOf(content: object): string | undefined {
  const version = versions.get(content);
  return typeof version === 'function' ? version() : version;
}

/** Gives a content the version of another one, from which it was made and whose bytes it has. @returns `content` */
export const sameBytes = <C extends object>(content: C, from: object): C => versioned(content, versions.get(from));

/**
 * Returns the version of a content that clients see. It differs if the bytes differ, or anything that is sent with them.
 * @param sentWith the JSON that is sent with the bytes, such as their metadata and the window that was asked for
 */
export function publishedVersion(content: object, sentWith: readonly unknown[]): string | undefined {
  const version = versionOf(content);
  return version === undefined ? undefined : versionFrom([version, ...sentWith], isWeakVersion(version));
}
