/** Requests and results of SEP-2093. The resources themselves are in `protocol/resources.ts`. */
import type { Resource, ResourceContents } from '../protocol/resources.ts';

/** `resources/list`: a page of the direct children of `uri`, or of the server's default list (2093-4). */
export interface ListResourcesRequest {
  readonly method: 'resources/list';
  readonly params?: { readonly uri?: string; readonly cursor?: string; readonly _meta?: object };
}

export interface ListResourcesResult {
  readonly resources: readonly Resource[];
  /** Sent back as `cursor` with the same `uri`; absent on the last page. */
  readonly nextCursor?: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** `resources/metadata`: a resource without its content (2093-2). */
export interface ReadResourceMetadataRequest {
  readonly method: 'resources/metadata';
  readonly params: { readonly uri: string; readonly _meta?: object };
}

export interface ReadResourceMetadataResult {
  readonly resource: Resource;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/**
 * For a container: some of its children, each with its own URI (2093-5). For any other resource: its formats, all with
 * the requested URI (2093-6).
 */
export interface ReadResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}
