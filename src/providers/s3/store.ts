/** The interface of a store. Keys are whole here, with the prefix of the mount. */
import type { Readable } from 'node:stream';

/** The facts about an object, without its content. */
export interface ObjectFacts {
  readonly key: string;
  readonly size: number;
  /** Without quotes. */
  readonly etag: string | undefined;
  readonly lastModified: Date | undefined;
}

/** One page of keys, in the order of their UTF-8 bytes. */
export interface KeyPage {
  readonly entries: readonly KeyEntry[];
  /** Whether there are more entries after the last one. */
  readonly truncated: boolean;
}

/** An object, or a prefix that stands for all keys below it. */
export type KeyEntry =
  | { readonly kind: 'object'; readonly key: string; readonly facts: ObjectFacts }
  | { readonly kind: 'prefix'; readonly key: string };

export interface ListKeys {
  readonly prefix: string;
  /** Whether keys with a further slash after the prefix are returned as one entry: the prefix that ends in this slash. */
  readonly folded: boolean;
  /** Returns only entries after this key. */
  readonly after?: string | undefined;
  /** The most entries that are returned, up to `MAX_LIST`. */
  readonly limit: number;
}

export interface Content {
  readonly facts: ObjectFacts;
  /** As it is stored with the object. */
  readonly contentType: string | undefined;
  readonly body: Readable;
}

/** The most keys of one list. S3 allows 1,000, but the client parses a list in one go, which holds up other requests. */
export const MAX_LIST = 500;

/** The methods throw the errors of the client; `faultOf` translates them. */
export interface Store {
  list(what: ListKeys, signal: AbortSignal): Promise<KeyPage>;
  /** Returns the facts about an object; undefined if there is no such key. */
  head(key: string, signal: AbortSignal): Promise<ObjectFacts | undefined>;
  /** Opens the content, or its bytes from `first` to `last`, both included; undefined if there is no such key. */
  get(
    key: string,
    range: { readonly first: number; readonly last: number | undefined } | undefined,
    signal: AbortSignal,
  ): Promise<Content | undefined>;
  close(): void;
}
