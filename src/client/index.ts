/**
 * `vitrine/client`: the resources of any MCP server, of either era, with paging, fallbacks, a cache and watches. Runs in
 * browsers, workers and Node.
 */
export type { Skill, SkillFrontmatter, SkillResource } from '../protocol/skills.ts';
export type { CallOptions } from './asking.ts';
export { base64Size } from './base64.ts';
export {
  type CacheEntry,
  type CacheKey,
  type CacheStore,
  type MemoryStore,
  type MemoryStoreOptions,
  memoryStore,
} from './cache-store.ts';
export { INFERRED_META_KEY } from './children.ts';
export {
  type CacheSettings,
  createResourceClient,
  type Listing,
  type ResolvedLink,
  type ResourceClient,
  type ResourceClientOptions,
  type ResourceClientSource,
} from './client.ts';
export type { Connect, ConnectContext, ReconnectOptions } from './connection.ts';
export type { ByteRange, ContentWindow, ReadItem } from './contents.ts';
export type { ResourceMetadata } from './described.ts';
export { type Embedded, type EmbeddedBlock, type LinkBlock, readEmbedded, writeEmbedded } from './embedded.ts';
export { type ClientErrorCode, type ClientErrorOptions, ResourceClientError } from './errors.ts';
export type { Watch, WatchEvent } from './events.ts';
export type { ClientTarget, HttpTarget } from './http.ts';
export type { Data, Era, Scoping, ServerFacts } from './link.ts';
export type { ReadIssue, ReadResult } from './outcome.ts';
export type { ListedTemplate, ListOptions, ListPage, ListReport, ListStop, ListVia } from './paging.ts';
export type { ReadOptions } from './reading.ts';
export { type FoundPlace, type Search, type SearchOptions, type SearchReport, searchResources } from './searching.ts';
export type { ListedResource } from './shapes.ts';
export { getSkill, listSkills, type RefusedSkill, type SkillListing } from './skills/list.ts';
export { readSkill, readSkillFile, type SkillFile, type SkillVerification, verifySkill } from './skills/read.ts';
export type { Walk, WalkEntry, WalkOptions, WalkReport, WalkStop, WalkVerdict } from './walk.ts';
