/** The options of the resource frontends, which are plain functions of these, the validated params and a context. */

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
  /** Milliseconds that the index may take for the values of a completion that it adds. */
  readonly completionMs: number;
  /** Bytes of answers that are kept to be given again; 0 keeps none. */
  readonly keptBytes: number;
}

/**
 * `maxReadBytes` is the largest body whose base64 still fits a 10 MiB message, which is what the SDK's stdio
 * transports take; larger resources are read in windows.
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
  /** Puts icons on the resources of a result that goes to a client. Default: none are put on. */
  readonly withIcons?: (<T extends object>(result: T) => T) | undefined;
  /** The same for lists of resources, whose entries may do with fewer. */
  readonly withListIcons?: (<T extends object>(result: T) => T) | undefined;
  /** Answers to reads. Default: none are kept. */
  readonly kept?: KeptAnswers | undefined;
}

/** The caller, method and parameters that a cursor is bound to. */
export function scopeOf(ctx: Context, method: string, ...parameters: readonly string[]): CursorScope {
  return { principal: ctx.principal.id, method, parameters };
}

/** Opens the caller's cursor, or undefined on the first page. */
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
