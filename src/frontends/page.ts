/** Takes a page of a list that is in memory, such as tools or prompts. */

import { invalid } from '../core/errors.ts';
import type { SourcePage } from '../core/lists/across.ts';
import type { Page } from '../core/provider.ts';

/** Returns the page after a cursor, which is the name of an entry. @throws ResourceError `invalid` if the entry is gone */
export function pageOf<T>(all: readonly T[], nameOf: (item: T) => string, { cursor, limit }: Page): SourcePage<T> {
  const at = cursor === undefined ? -1 : all.findIndex((item) => nameOf(item) === cursor);
  if (cursor !== undefined && at === -1) throw invalid('The list has changed; list again without the cursor');
  const items = all.slice(at + 1, at + 1 + limit);
  const end = items.at(-1);
  const more = end !== undefined && at + 1 + items.length < all.length;
  return { items, nextCursor: more ? nameOf(end) : undefined };
}
