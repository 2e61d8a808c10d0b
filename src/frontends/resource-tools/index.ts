/**
 * Tools over the same layered provider as `resources/*`, for hosts that give their model tools and nothing else (CB-2 to
 * CB-8). One file a tool.
 */
import type { ChangeHub } from '../../core/change-hub.ts';
import type { Mount } from '../../core/mounts.ts';
import type { Tool } from '../../core/tool.ts';
import type { ResourceOptions } from '../resources/options.ts';

export interface ResourceToolOptions {
  /** Goes before each tool's name, as in `docs_read`. */
  readonly prefix?: string | undefined;
  /** Bytes of content that a tool puts into a model's context unless it is told otherwise. */
  readonly outputBytes?: number | undefined;
}

export const DEFAULT_OUTPUT_BYTES = 25_000;

/** What the tools work with. */
export interface ResourceToolContext {
  readonly resources: ResourceOptions;
  readonly changes: ChangeHub;
  readonly mounts: readonly Mount[];
}

export function createResourceTools(
  _context: ResourceToolContext,
  _options: ResourceToolOptions = {},
): readonly Tool[] {
  return [];
}
