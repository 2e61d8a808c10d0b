/**
 * `vitrine/sep-2093`: SEP-2093 for servers and clients other than Vitrine. It runs in browsers, workers and Node, and loads no
 * SDK by itself. docs/extensions/resource-hierarchy.md describes the extension.
 */
export type { CallOptions } from '../client/asking.ts';
export type { ResourceMetadata } from '../client/described.ts';
export type { ListOptions, ListReport } from '../client/paging.ts';
export type { ListedResource } from '../client/shapes.ts';
export { invalid, notFound, notListable, ResourceError } from '../core/errors.ts';
export type { EmbeddedResource } from '../protocol/content.ts';
export { RESOURCE_HIERARCHY_EXTENSION } from '../protocol/meta.ts';
export type {
  Annotations,
  BlobResourceContents,
  Icon,
  Resource,
  ResourceCapabilities,
  ResourceContents,
  TextResourceContents,
} from '../protocol/resources.ts';
export { listChildren, resourceMetadata } from './client.ts';
export { hierarchyFromReads, type ReadingServer } from './from-reads.ts';
export type {
  HierarchyContents,
  HierarchyContext,
  HierarchyPage,
  HierarchyResource,
  ResourceHierarchy,
} from './hierarchy.ts';
export { RESOURCE_HIERARCHY_SCHEMAS } from './schemas.ts';
export { type SdkServer, serveResourceHierarchy } from './serve.ts';
export type {
  ListResourcesRequest,
  ListResourcesResult,
  ReadResourceMetadataRequest,
  ReadResourceMetadataResult,
  ReadResourceResult,
} from './types.ts';
