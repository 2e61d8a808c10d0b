/** A hierarchy of resources as plain functions, without paging rules or error codes. */
import type { Resource, ResourceCapabilities } from '../protocol/resources.ts';

/** The caller of a function of a hierarchy. */
export interface HierarchyContext {
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal;
  /** The SDK's context of the request: `ServerContext` of v2, `RequestHandlerExtra` of v1. It identifies the caller. */
  readonly extra: unknown;
}

/**
 * A resource in a hierarchy. An absent `name` defaults to the end of the URI, and an absent flag to false. Your own
 * fields are sent unchanged.
 */
export interface HierarchyResource extends Omit<Resource, 'name' | 'capabilities'> {
  readonly name?: string;
  readonly capabilities?: Partial<ResourceCapabilities>;
}

export interface HierarchyPage {
  readonly resources: readonly HierarchyResource[];
  /** An opaque text that comes back as `cursor`; absent on the last page. */
  readonly nextCursor?: string | undefined;
}

/** An item of a read, with its text or its bytes in base64. */
export type HierarchyContents = HierarchyResource & ({ readonly text: string } | { readonly blob: string });

type Awaitable<T> = T | Promise<T>;

/** The functions of a hierarchy. Each may throw a `ResourceError` or an error of the SDK. */
export interface ResourceHierarchy {
  /**
   * Returns a page of the direct children of `uri`, whose `metadata` says that it can be listed. Without `uri`, returns
   * a page of the server's default list.
   * @throws ResourceError `invalid` for a foreign cursor
   */
  list(uri: string | undefined, cursor: string | undefined, context: HierarchyContext): Awaitable<HierarchyPage>;
  /** Returns a resource without its content; undefined where there is none, or where the caller must not know of it. */
  metadata(uri: string, context: HierarchyContext): Awaitable<HierarchyResource | undefined>;
  /**
   * Returns the contents of a resource that `metadata` knows. Fields that `metadata` gives are filled in. Leave this
   * function out where the server handles reads itself.
   */
  read?(uri: string, context: HierarchyContext): Awaitable<readonly HierarchyContents[]>;
}
