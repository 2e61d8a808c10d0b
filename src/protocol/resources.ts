/**
 * The wire shapes of resources: MCP 2026-07-28 `Resource` and friends, with SEP-2093's additions.
 *
 * All of them are readonly data. Unknown fields are allowed everywhere, because fields that a peer sends must survive even if
 * Vitrine does not know them (2093-11).
 */

/** An icon (973-3). `sizes` is an array of `WxH` or `any`, as the adopted schema has it. */
export interface Icon {
  readonly src: string;
  readonly mimeType?: string | undefined;
  readonly sizes?: readonly string[] | undefined;
  readonly theme?: 'light' | 'dark' | undefined;
}

/** Hints about how a resource may be used. `lastModified` is ISO 8601. */
export interface Annotations {
  readonly audience?: readonly ('user' | 'assistant')[];
  /** From 0 (entirely optional) to 1 (effectively required). */
  readonly priority?: number;
  readonly lastModified?: string;
}

/** Which operations work on one resource, for the caller that sees it (2093-3). */
export interface ResourceCapabilities {
  /** `resources/list` with this URI, and `resources/directory/read`, enumerate its children. */
  readonly list: boolean;
  /** Changes of this resource can be subscribed to. */
  readonly subscribe: boolean;
}

/** The key of `OtherNames` in a resource. These names never go over the wire, since JSON has no symbols. */
export const NAMES: unique symbol = Symbol('names');

/** Other names of a resource within the server, for policies that decide by names. */
export interface OtherNames {
  /** URIs that the resource leads to, as a link does. A caller who may not read these may not read the resource either. */
  readonly leadsTo?: readonly string[] | undefined;
  /** Paths in a repository of the files that the resource shows, whatever the revision and the view. */
  readonly paths?: readonly string[] | undefined;
}

/** A resource as a server describes it, without its content. */
export interface Resource {
  readonly [NAMES]?: OtherNames;
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Bytes of the raw content, before base64. */
  readonly size?: number;
  readonly icons?: readonly Icon[];
  readonly annotations?: Annotations;
  readonly capabilities?: ResourceCapabilities;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** An RFC 6570 template that stands for many resources. */
export interface ResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly icons?: readonly Icon[];
  readonly annotations?: Annotations;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** An item of a read: the whole `Resource` and its content as UTF-8 text (2093-1). */
export interface TextResourceContents extends Resource {
  readonly text: string;
}

/** An item of a read: the whole `Resource` and its content in base64 (2093-1). */
export interface BlobResourceContents extends Resource {
  readonly blob: string;
}

export type ResourceContents = TextResourceContents | BlobResourceContents;

/** The type of a container, as SEP-2640 and the XDG shared MIME database name it (2093-8). */
export const DIRECTORY_MIME_TYPE = 'inode/directory';

/** Freshness of a result, required on list and read results since 2026-07-28. */
export interface CacheHint {
  /** Milliseconds for which a client may consider the result fresh; 0 means that it has to ask again each time. */
  readonly ttlMs: number;
  readonly cacheScope: 'public' | 'private';
}
