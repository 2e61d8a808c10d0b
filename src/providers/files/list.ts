/** Direct children of a directory, a page at a time, in the order of its sorted names. */
import type { Context } from '../../core/context.ts';
import { invalid, notListable, ResourceError } from '../../core/errors.ts';
import type { Page, ResourcePage } from '../../core/provider.ts';
import { treeUri } from '../../core/uri.ts';
import type { Resource } from '../../protocol/resources.ts';
import { faultOf } from './fault.ts';
import { type Folder, type Found, find, findSegments, resourceOf, SCHEME } from './folder.ts';
import type { Entry, EntryKind } from './sorted-names.ts';
import type { NameFilter } from './visibility.ts';

/** Entries whose metadata is asked for at the same time. */
const CONCURRENCY = 16;

export async function listRoots(folder: Folder): Promise<ResourcePage> {
  await using root = await findSegments(folder, [], 'metadata', treeUri(SCHEME, []));
  return { resources: [root.resource] };
}

export async function listDirectory(folder: Folder, uri: string, page: Page, ctx: Context): Promise<ResourcePage> {
  const position = page.cursor === undefined ? undefined : parsePosition(page.cursor);
  await using directory = await find(folder, uri, 'content');
  if (!directory.isDirectory) throw notListable(uri);
  // Awaited here: the directory is closed when this function is left.
  return await listOpened(folder, directory, position, page.limit, uri, ctx);
}

/** The page behind a position of a directory that is already open. */
export async function listOpened(
  folder: Folder,
  directory: Found,
  position: Entry | undefined,
  limit: number,
  uri: string,
  ctx: Context,
): Promise<ResourcePage> {
  const { opened, segments } = directory;
  const filter = await folder.visibility.filterIn(opened.segments);
  const names = await folder.snapshots
    .take(opened, filter, position !== undefined, uri, ctx.signal)
    .catch((error: unknown) => {
      throw faultOf(error, uri);
    });
  // The names were filtered for where the directory lies; behind a link they have to be shown under its path too.
  const direct = opened.segments.join('/') === segments.join('/');
  const shown = direct ? filter : await folder.visibility.filterIn(segments);
  const resources: Resource[] = [];
  let index = position === undefined ? 0 : names.after(position);
  // Entries that have vanished, or lead outside, leave room that is filled from behind, within reason.
  for (let rounds = 0; index < names.length && resources.length < limit && rounds < 4; rounds++) {
    const batch: Entry[] = [];
    while (index < names.length && batch.length < limit - resources.length) batch.push(names.at(index++));
    const described = await mapConcurrently(
      batch,
      (entry) => describe(folder, directory, entry, shown, direct),
      ctx.signal,
    );
    resources.push(...described.filter((resource) => resource !== undefined));
  }
  const last = index > 0 ? names.at(index - 1) : undefined;
  const more = index < names.length && last !== undefined;
  return { resources, nextCursor: more ? `${last.kind}${last.name}` : undefined };
}

function parsePosition(cursor: string): Entry {
  const kind = cursor.slice(0, 1);
  if (kind !== 'd' && kind !== 'f' && kind !== 'l') throw invalid('The cursor is not one of this provider');
  return { kind: kind satisfies EntryKind, name: cursor.slice(1) };
}

/**
 * The resource of one entry; undefined when it has vanished, is not shown, or cannot be served.
 * @param filtered whether the filter has let the entry pass, as what it was when the names were read
 */
async function describe(
  folder: Folder,
  directory: Found,
  entry: Entry,
  shown: NameFilter,
  filtered: boolean,
): Promise<Resource | undefined> {
  const segments = [...directory.segments, entry.name];
  try {
    const stats = await folder.disk.lstat(`${directory.opened.path}/${entry.name}`);
    if (stats.isSymbolicLink()) {
      await using target = await findSegments(folder, segments, 'metadata', '');
      return target.resource;
    }
    if (!stats.isDirectory() && !stats.isFile()) return undefined;
    const known = filtered && stats.isDirectory() === (entry.kind === 'd');
    if (!known && !shown(entry.name, stats.isDirectory())) return undefined;
    return resourceOf(folder, segments, stats, [...directory.opened.segments, entry.name]);
  } catch (error) {
    const fault = faultOf(error, '');
    if (fault instanceof ResourceError && fault.code !== 'internal' && fault.code !== 'unavailable') return undefined;
    throw fault;
  }
}

async function mapConcurrently<T, R>(
  items: readonly T[],
  map: (item: T) => Promise<R>,
  signal: AbortSignal,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += CONCURRENCY) {
    signal.throwIfAborted();
    results.push(...(await Promise.all(items.slice(at, at + CONCURRENCY).map(map))));
  }
  return results;
}
