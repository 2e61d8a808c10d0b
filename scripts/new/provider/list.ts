/** Lists the direct children, a page at a time, in the order of their names. */
import type { Context } from '../../core/context.ts';
import { notListable } from '../../core/errors.ts';
import type { Page, ResourcePage } from '../../core/provider.ts';
import { type Entries, entryOf, nameIn, rootOf } from './entries.ts';

/** @throws ResourceError `not-found`, `not-listable`, `invalid` */
export function listExample(
  entries: Entries,
  uri: string | undefined,
  { cursor, limit }: Page,
  ctx: Context,
): ResourcePage {
  ctx.signal.throwIfAborted();
  if (uri === undefined) return { resources: [rootOf(entries)] };
  const name = nameIn(uri);
  if (name !== undefined) throw notListable(entryOf(entries, name).uri);
  // The cursor is the last name of the page before, so that nothing is lost or repeated where names come and go.
  const rest = entries.names.filter((each) => cursor === undefined || each > cursor);
  const shown = rest.slice(0, limit);
  return {
    resources: shown.map((each) => entryOf(entries, each)),
    nextCursor: rest.length > shown.length ? shown.at(-1) : undefined,
  };
}
