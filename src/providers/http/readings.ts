/** The readings that plug-ins make of documents of others: data alone, which crosses from the thread that reads. */
import type { Annotations } from '../../protocol/resources.ts';

/** Reads the documents of one kind; the default export of a plug-in. It runs on a thread with limits in time and memory. */
export interface DocumentPlugIn<Source, Reading> {
  /** @throws ResourceError `invalid` or `unavailable` with what is wrong in the document, never with its text */
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

/** Which document is read, in words that cross to a thread. */
export interface ApiSource {
  /** How the document is called in errors. */
  readonly what: string;
  /** The URL of the document; undefined for a file. */
  readonly from: string | undefined;
  /** The URL of the API, as it was configured. */
  readonly server: string | undefined;
}

/** An API document that was read, as data alone. */
export interface ApiReading {
  /** The URL of the API, without a slash at the end. */
  readonly base: string;
  readonly operations: readonly Operation[];
  /** There are more than are shown. */
  readonly more: boolean;
}

/** A GET operation of an API. */
export interface Operation {
  /** The URL, where nothing has to be filled in. */
  readonly url?: string | undefined;
  /** The URL with its parameters, where there are any. */
  readonly urlTemplate?: string | undefined;
  /** The values that a variable of the template may have, where the document lists them. */
  readonly values: Readonly<Record<string, readonly string[]>>;
  readonly said: Description;
}

/** Which feed is read, in words that cross to a thread. */
export interface FeedSource {
  readonly uri: string;
  readonly url: string;
  /** The MIME type that the server gave for it. */
  readonly mimeType: string | undefined;
}

/** An entry of a feed: its resource, and its time in milliseconds since 1970; 0 where the feed gives none. */
export interface FeedEntry {
  readonly uri: string;
  readonly url: string;
  readonly said: Description;
  readonly time: number;
  /** Its content, where the feed has that. */
  readonly inline?: { readonly bytes: Uint8Array; readonly mimeType: string };
}
