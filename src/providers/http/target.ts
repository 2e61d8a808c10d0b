/** A resource of the web, and its description for clients. */
import { essenceOf } from '../../core/formats/formats.ts';
import { mimeTypeOfName } from '../../core/formats/mime-type.ts';
import { nameOfUri } from '../../core/uri.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import type { Facts } from './facts.ts';
import type { Description } from './readings.ts';
import type { Access } from './send.ts';

export interface Target {
  /** The canonical URI, which is published. */
  readonly uri: string;
  /** The requested URL: the URI without a fragment. */
  readonly url: URL;
  readonly access: Access;
  /** The description from the configuration, a feed, or the document of an API. */
  readonly description: Description;
  /** Whether a HEAD request may be sent. */
  readonly head: boolean;
  /** Whether the resource is a feed, whose entries are its children; undefined if its type decides. */
  readonly feed: boolean | undefined;
  /** Content that came with the feed, so that no request is needed. */
  readonly inline?: { readonly bytes: Uint8Array; readonly mimeType: string } | undefined;
}

const FEED_TYPES: ReadonlySet<string> = new Set([
  'application/rss+xml',
  'application/atom+xml',
  'application/feed+json',
]);

/** Returns the type of a resource when it is read. */
export function typeOf({ uri, description }: Target, facts: Facts | undefined): string | undefined {
  return (
    description.mimeType ??
    facts?.mimeType ??
    mimeTypeOfName(description.name ?? '') ??
    mimeTypeOfName(nameOfUri(uri) ?? '')
  );
}

export const isFeed = (target: Target, facts: Facts | undefined): boolean =>
  target.feed ?? FEED_TYPES.has(essenceOf(typeOf(target, facts)));

/**
 * Describes a resource for clients.
 * @param facts the server's facts; undefined if they are unknown, or not to be shown
 * @param watched whether clients may subscribe to it
 */
export function resourceOf(target: Target, facts: Facts | undefined, watched: boolean): Resource {
  const { uri, description, url } = target;
  const list = isFeed(target, facts);
  const mimeType = list ? DIRECTORY_MIME_TYPE : (target.inline?.mimeType ?? typeOf(target, facts));
  const size = list ? undefined : (target.inline?.bytes.byteLength ?? facts?.size);
  const lastModified = facts?.lastModified;
  return {
    uri,
    name: description.name ?? nameOfUri(url.origin + url.pathname.replace(/^\/$/, '')) ?? url.hostname,
    ...(description.title !== undefined && { title: description.title }),
    ...(description.description !== undefined && { description: description.description }),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
    ...((description.annotations !== undefined || lastModified !== undefined) && {
      annotations: { ...(lastModified !== undefined && { lastModified }), ...description.annotations },
    }),
    capabilities: { list, subscribe: watched },
  };
}
