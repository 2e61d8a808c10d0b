/** The interface of a store, whichever it is: keys are whole here, with the prefix of the mount. */
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
  /** There are more behind the last one. */
  readonly truncated: boolean;
}

/** An object, or a prefix that others begin with. */
export type KeyEntry =
  | { readonly kind: 'object'; readonly key: string; readonly facts: ObjectFacts }
  | { readonly kind: 'prefix'; readonly key: string };

export interface ListKeys {
  readonly prefix: string;
  /** Keys with a slash behind the prefix are shown as the prefix up to it. */
  readonly folded: boolean;
  /** Only what comes behind this. */
  readonly after?: string | undefined;
  /** At most `MAX_LIST`; no more come. */
  readonly limit: number;
}

export interface Content {
  readonly facts: ObjectFacts;
  /** As it is stored with the object. */
  readonly contentType: string | undefined;
  readonly body: Readable;
}

/** The most keys of one list. The protocol has 1,000; the client parses a list at once, and others wait meanwhile. */
export const MAX_LIST = 500;

/** Methods throw what the client throws; `faultOf` says what it means. */
export interface Store {
  list(what: ListKeys, signal: AbortSignal): Promise<KeyPage>;
  /** Undefined where there is no such key. */
  head(key: string, signal: AbortSignal): Promise<ObjectFacts | undefined>;
  /** The content, or the bytes from `first` to `last`; undefined where there is no such key. */
  get(
    key: string,
    range: { readonly first: number; readonly last: number | undefined } | undefined,
    signal: AbortSignal,
  ): Promise<Content | undefined>;
  close(): void;
}
