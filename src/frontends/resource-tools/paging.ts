/** Makes the pages of tools that list: filters them without losing entries, and keeps them short enough for a model's context. */
import type { Context } from '../../core/context.ts';
import type { MissingPart } from '../../core/notes.ts';
import type { CallToolResult } from '../../protocol/content.ts';
import { collectMissing } from './missing.ts';
import type { ToolSetup } from './setup.ts';

/** The most entries of a page. */
const MAX_PAGE = 100;

/** The most entries that are looked at for one page of a filtered list. The page then ends, with a cursor for the rest. */
const MAX_LOOKED_AT = 2_000;

export interface Batch<T> {
  readonly items: readonly T[];
  readonly position?: string | undefined;
  /** The name of the limit that cut the list short. */
  readonly truncatedBy?: string | undefined;
}

/** A page, and what is missing from it. */
export interface NotedBatch<T> extends Batch<T> {
  readonly missing: readonly MissingPart[];
}

interface Paging<T> {
  readonly ctx: Context;
  /** Gives at most `limit` entries after a position. Notes in the context what is missing. */
  readonly fetch: (position: string | undefined, limit: number, ctx: Context) => Promise<Batch<T>>;
  /** The filter; undefined accepts all entries. */
  readonly accept: ((item: T) => boolean) | undefined;
  readonly position: string | undefined;
  readonly render: (batch: NotedBatch<T>) => CallToolResult;
}

/**
 * Makes the longest page whose answer fits the output budget. A page that does not fit is fetched again with fewer entries,
 * so that its cursor continues exactly where it ends.
 */
export async function pageFor<T>(setup: ToolSetup, paging: Paging<T>): Promise<CallToolResult> {
  for (let limit = Math.min(MAX_PAGE, setup.resources.limits.pageSize); ; ) {
    const { notes, parts } = collectMissing();
    const batch = await gather({ ...paging, ctx: { ...paging.ctx, notes } }, limit);
    const result = withMissing(paging.render({ ...batch, missing: parts() }), parts());
    const size = sizeOf(result);
    const count = batch.items.length;
    if (size <= setup.outputBytes || count <= 1) return result;
    limit = Math.max(1, Math.min(count - 1, Math.floor((count * setup.outputBytes) / size)));
  }
}

function withMissing(result: CallToolResult, missing: readonly MissingPart[]): CallToolResult {
  const { structuredContent } = result;
  if (structuredContent === undefined || missing.length === 0) return result;
  return { ...result, structuredContent: { ...structuredContent, missing } };
}

async function gather<T>({ fetch, accept, position, ctx }: Paging<T>, limit: number): Promise<Batch<T>> {
  if (accept === undefined) return fetch(position, limit, ctx);
  let at = position;
  for (let lookedAt = 0; ; ) {
    // A page is one batch, however few entries the filter leaves: if two batches did not fit together, no cursor could continue
    // in the middle of the second.
    const batch = await fetch(at, limit, ctx);
    const items = batch.items.filter(accept);
    lookedAt += limit;
    if (items.length > 0 || batch.position === undefined || lookedAt >= MAX_LOOKED_AT) return { ...batch, items };
    at = batch.position;
  }
}

/** Hosts show a model either the text or the structured content, so the longer one counts. */
function sizeOf({ content, structuredContent }: CallToolResult): number {
  const texts = content.map((block) => (block.type === 'text' ? Buffer.byteLength(block.text) : 0));
  const text = texts.reduce((sum, bytes) => sum + bytes, 0);
  return Math.max(text, Buffer.byteLength(JSON.stringify(structuredContent) ?? ''));
}
