/** Makes the pages of tools that list: filters them without losing entries, and keeps them short enough for a model's context. */
import type { CallToolResult } from '../../protocol/content.ts';
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

interface Paging<T> {
  /** Gives at most `limit` entries after a position. */
  readonly fetch: (position: string | undefined, limit: number) => Promise<Batch<T>>;
  /** The filter; undefined accepts all entries. */
  readonly accept: ((item: T) => boolean) | undefined;
  readonly position: string | undefined;
  readonly render: (batch: Batch<T>) => CallToolResult;
}

/**
 * Makes the longest page whose answer fits the output budget. A page that does not fit is fetched again with fewer entries,
 * so that its cursor continues exactly where it ends.
 */
export async function pageFor<T>(setup: ToolSetup, paging: Paging<T>): Promise<CallToolResult> {
  for (let limit = Math.min(MAX_PAGE, setup.resources.limits.pageSize); ; ) {
    const batch = await gather(paging, limit);
    const result = paging.render(batch);
    const size = sizeOf(result);
    const count = batch.items.length;
    if (size <= setup.outputBytes || count <= 1) return result;
    limit = Math.max(1, Math.min(count - 1, Math.floor((count * setup.outputBytes) / size)));
  }
}

async function gather<T>({ fetch, accept, position }: Paging<T>, limit: number): Promise<Batch<T>> {
  if (accept === undefined) return fetch(position, limit);
  let at = position;
  for (let lookedAt = 0; ; ) {
    // A page is one batch, however few entries the filter leaves: if two batches did not fit together, no cursor could continue
    // in the middle of the second.
    const batch = await fetch(at, limit);
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
