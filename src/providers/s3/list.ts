/** Lists direct children page by page, in the order of the store, which sorts keys by their bytes. */
import type { Context } from '../../core/context.ts';
import { invalid, notFound, notListable } from '../../core/errors.ts';
import type { Page, ResourcePage } from '../../core/provider.ts';
import { nameOfSegment, nameProblem, segmentOfName } from '../../core/uri.ts';
import type { Resource } from '../../protocol/resources.ts';
import { type Bucket, type Found, find, foundOf, resourceOf } from './bucket.ts';
import { faultOf } from './fault.ts';
import { MAX_KEY_BYTES, parseKeyUri } from './names.ts';
import { type KeyEntry, MAX_LIST } from './store.ts';

/** @throws ResourceError `not-found`, `not-listable`, `invalid`, and the errors of `faultOf` */
export async function listBucket(
  bucket: Bucket,
  uri: string | undefined,
  page: Page,
  ctx: Context,
): Promise<ResourcePage> {
  ctx.signal.throwIfAborted();
  if (uri === undefined) return { resources: [resourceOf(bucket, { kind: 'prefix', key: '' })] };
  const named = parseKeyUri(uri);
  const key = named.isPrefix ? named.key : await folderAt(bucket, uri, ctx);
  const { found, nextCursor, empty } = await entriesOf(bucket, key, page, uri, ctx);
  if (empty && key !== '' && page.cursor === undefined) throw notFound(uri);
  return { resources: found.map((child): Resource => resourceOf(bucket, child)), nextCursor };
}

async function folderAt(bucket: Bucket, uri: string, ctx: Context): Promise<string> {
  const { kind, key } = await find(bucket, uri, ctx);
  if (kind === 'object') throw notListable(uri);
  return key;
}

/** Returns one page of the children of a folder. An empty object with the key of the folder itself is not one of them. */
export async function entriesOf(
  bucket: Bucket,
  folder: string,
  { cursor, limit }: Page,
  uri: string,
  ctx: Context,
): Promise<{ found: readonly Found[]; nextCursor: string | undefined; empty: boolean }> {
  const prefix = bucket.prefix + folder;
  const after = cursor === undefined ? undefined : prefix + parsePosition(cursor);
  try {
    // Requests one more, since one may be left out: the folder itself, or the prefix at the end of the page before.
    const requested = Math.min(limit + 1, MAX_LIST);
    const answer = await bucket.store.list({ prefix, folded: true, after, limit: requested }, ctx.signal);
    const shown = answer.entries.filter((entry) => entry.key !== after && !isFolderMark(entry, prefix));
    const found = shown.slice(0, limit).map((entry) => foundOf(bucket, entry));
    const last = found.at(-1);
    const more = answer.truncated || shown.length > found.length;
    return {
      found,
      nextCursor: more && last !== undefined ? positionOf(last, folder) : undefined,
      empty: answer.entries.length === 0,
    };
  } catch (error) {
    throw faultOf(error, uri, ctx.signal);
  }
}

/** Whether an entry is the empty object with the key of a folder, as web consoles of stores make it. */
export const isFolderMark = (entry: KeyEntry, prefix: string): boolean =>
  entry.kind === 'object' && entry.key === prefix && entry.facts.size === 0;

/** Returns the cursor after an entry: `a` for an object, `a/` for a folder. */
function positionOf({ key, kind }: Found, folder: string): string {
  const name = key.slice(folder.length);
  return kind === 'prefix' ? `${segmentOfName(name.slice(0, -1))}/` : segmentOfName(name);
}

function parsePosition(cursor: string): string {
  const isFolder = cursor.endsWith('/');
  const segment = isFolder ? cursor.slice(0, -1) : cursor;
  if (nameProblem(segment) !== undefined || segment.length > 3 * MAX_KEY_BYTES)
    throw invalid('The cursor is not one of this provider');
  return nameOfSegment(segment) + (isFolder ? '/' : '');
}
