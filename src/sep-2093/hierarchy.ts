/** A hierarchy of resources as whoever has one writes it: plain functions, without paging rules or error codes. */
import type { Resource, ResourceCapabilities } from '../protocol/resources.ts';

/** On whose behalf a function of a hierarchy runs. */
export interface HierarchyContext {
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal;
  /** The context that the SDK hands to its request handlers: `ServerContext` of v2, `RequestHandlerExtra` of v1. It says who asks. */
  readonly extra: unknown;
}

/**
 * A resource as a hierarchy gives it. A `name` that is absent is the end of the URI, a flag that is absent is false. Fields of
 * your own are sent as they are.
 */
export interface HierarchyResource extends Omit<Resource, 'name' | 'capabilities'> {
  readonly name?: string;
  readonly capabilities?: Partial<ResourceCapabilities>;
}

export interface HierarchyPage {
  readonly resources: readonly HierarchyResource[];
  /** Opaque. Comes back as `cursor`; absent on the last page. */
  readonly nextCursor?: string | undefined;
}

/** An item of a read: with its text, or its bytes in base64. */
export type HierarchyContents = HierarchyResource & ({ readonly text: string } | { readonly blob: string });

type Awaitable<T> = T | Promise<T>;

/** Each function throws `ResourceError`s, or the errors of the SDK. */
export interface ResourceHierarchy {
  /**
   * A page of the direct children of `uri`, which `metadata` said can be listed; without `uri`, of the server's default list.
   * @throws ResourceError `invalid` for a cursor that is not its own
   */
  list(uri: string | undefined, cursor: string | undefined, context: HierarchyContext): Awaitable<HierarchyPage>;
  /** A resource without its content; undefined where there is none, or none that the caller may know of. */
  metadata(uri: string, context: HierarchyContext): Awaitable<HierarchyResource | undefined>;
  /**
   * The contents of a resource that `metadata` knows, without what `metadata` says already: that is filled in. Leave it out
   * where the server reads by itself.
   */
  read?(uri: string, context: HierarchyContext): Awaitable<readonly HierarchyContents[]>;
}
