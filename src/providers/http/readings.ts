/** The data that plug-ins read out of documents from other servers. It has no functions, so that a thread can send it. */
import type { Annotations } from '../../protocol/resources.ts';

/** Reads the documents of one kind; the default export of a plug-in. Only small documents are read outside a limited thread. */
export interface DocumentPlugIn<Source, Reading> {
  /** @throws ResourceError `invalid` or `unavailable`, which says what is wrong in the document, but never quotes it */
  read(bytes: Uint8Array, source: Source): Reading | Promise<Reading>;
}

/** The description of a resource, from the configuration, a feed, or an API's document. */
export interface Description {
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly annotations?: Annotations | undefined;
}

/** Facts about the document of an API that is to be read. */
export interface ApiSource {
  /** The name of the document in errors. */
  readonly what: string;
  /** The URL of the document; undefined for a file. */
  readonly from: string | undefined;
  /** The URL of the API, as it was configured. */
  readonly server: string | undefined;
}

/** The contents of an API's document. */
export interface ApiReading {
  /** The URL of the API, without a slash at the end. */
  readonly base: string;
  readonly operations: readonly Operation[];
  /** Whether the document has more operations than `operations` lists. */
  readonly more: boolean;
}

/** A GET operation of an API. */
export interface Operation {
  /** The URL of an operation without parameters. */
  readonly url?: string | undefined;
  /** The URL template of an operation with parameters. */
  readonly urlTemplate?: string | undefined;
  /** The values that the document lists for variables of the template, by name. */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** The description in the document. */
  readonly description: Description;
}

/** Facts about a feed that is to be read. */
export interface FeedSource {
  readonly uri: string;
  readonly url: string;
  /** The encoding by the byte-order mark, else by the header `Content-Type` (RFC 7303 3); undefined if neither gives one. */
  readonly charset: string | undefined;
}

/** An entry of a feed. */
export interface FeedEntry {
  readonly uri: string;
  readonly url: string;
  /** The description in the feed. */
  readonly description: Description;
  /** The time of the entry in milliseconds since 1970; 0 if the feed gives none. */
  readonly time: number;
  /** The content of the entry, if it is in the feed. */
  readonly inline?: { readonly bytes: Uint8Array; readonly mimeType: string };
}
