/** The options of the resource frontends. These are plain functions of options, validated params and a context. */

import type { Context } from '../../core/context.ts';
import type { CursorCodec, CursorScope } from '../../core/lists/cursor.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { CacheHint } from '../../protocol/resources.ts';
import { DEFAULT_KEPT_BYTES, type KeptAnswers } from './kept.ts';

export interface ResourceLimits {
  /** Entries of a page. */
  readonly pageSize: number;
  /** Entries of the default list, over all its pages (`listing.maxResources`). */
  readonly maxListed: number;
  /** Levels of the default list. */
  readonly maxDepth: number;
  /** Bytes of content in one read, over all items, before base64. */
  readonly maxReadBytes: number;
  /** Children in the read of a container. */
  readonly maxChildren: number;
  /** Values of a completion; the specification caps them at 100. */
  readonly maxCompletions: number;
  /** Milliseconds that a completion waits for the values that the index adds. */
  readonly completionMs: number;
  /** Bytes of answers that are kept to be given again; 0 keeps none. */
  readonly keptBytes: number;
}

/**
 * The base64 of `maxReadBytes` still fits a message of 10 MiB, the limit of the SDK's stdio transports.
 * Larger resources are read in windows.
 */
export const DEFAULT_LIMITS: ResourceLimits = {
  pageSize: 100,
  maxListed: 1_000,
  maxDepth: 32,
  maxReadBytes: 7 * 1024 * 1024,
  maxChildren: 100,
  maxCompletions: 100,
  completionMs: 200,
  keptBytes: DEFAULT_KEPT_BYTES,
};

export interface ResourceOptions {
  readonly provider: ResourceProvider;
  readonly cursors: CursorCodec;
  readonly limits: ResourceLimits;
  /** `walk`: the default list goes down the tree; `roots`: it shows the mounts' roots only. */
  readonly listing: 'walk' | 'roots';
  readonly cacheHint: CacheHint;
  /** Adds icons to the resources of a result that goes to a client. Default: adds none. */
  readonly withIcons?: (<T extends object>(result: T) => T) | undefined;
  /** The same for lists, whose entries may get fewer icons. Default: adds none. */
  readonly withListIcons?: (<T extends object>(result: T) => T) | undefined;
  /** Keeps answers to reads and lists. Default: none are kept. */
  readonly kept?: KeptAnswers | undefined;
}

/** The caller, method and parameters that a cursor is bound to. */
export function scopeOf(ctx: Context, method: string, ...parameters: readonly string[]): CursorScope {
  return { principal: ctx.principal.id, method, parameters };
}

/** The position that the caller's cursor names; undefined on the first page. @throws ResourceError `invalid` */
export function openCursor(
  options: ResourceOptions,
  cursor: string | undefined,
  scope: CursorScope,
): string | undefined {
  return cursor === undefined ? undefined : options.cursors.open(cursor, scope);
}

/** `nextCursor` of a result: sealed, and absent on the last page. */
export function nextCursor(
  options: ResourceOptions,
  position: string | undefined,
  scope: CursorScope,
): { nextCursor?: string } {
  return position === undefined ? {} : { nextCursor: options.cursors.seal(position, scope) };
}
