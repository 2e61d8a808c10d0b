/** Lists the direct children of a directory, page by page, in the order of its sorted names. */
import type { Context } from '../../core/context.ts';
import { invalid, notListable } from '../../core/errors.ts';
import type { Page, ResourcePage } from '../../core/provider.ts';
import { treeUri } from '../../core/uri.ts';
import { rememberedPage } from './again.ts';
import { describedPage, type Part } from './described-page.ts';
import { faultOf } from './fault.ts';
import { type Folder, type Found, find, findSegments, isDirect, SCHEME } from './folder.ts';
import type { PageKey } from './kept-pages.ts';
import { readable } from './open.ts';
import type { Entry, EntryKind } from './sorted-names.ts';
import type { NameFilter } from './visibility.ts';

export async function listRoots(folder: Folder, want: Page): Promise<ResourcePage> {
  const before = Date.now();
  await using root = await findSegments(folder, [], 'metadata', treeUri(SCHEME, []));
  return rememberedPage(folder, { resources: [root.resource] }, root, {
    before,
    uri: undefined,
    want,
    kept: undefined,
  });
}

export async function listDirectory(folder: Folder, uri: string, page: Page, ctx: Context): Promise<ResourcePage> {
  const position = page.cursor === undefined ? undefined : parsePosition(page.cursor);
  const before = Date.now();
  await using directory = await find(folder, uri, 'metadata');
  if (!directory.isDirectory) throw notListable(uri);
  const { opened, segments } = directory;
  const filter = await folder.visibility.filterIn(opened.segments);
  const part: Part = { position, limit: page.limit, uri, signal: ctx.signal };
  const key: PageKey = { directory: segments.join('/'), place: `${page.cursor ?? ''}\n${page.limit}` };
  // A directory with the same times has the same permissions, too: if it could be read then, it may be read now.
  const names = isDirect(directory) ? folder.snapshots.known(opened, filter) : undefined;
  const fresh = names && folder.kept.fresh(key, names);
  if (names !== undefined && fresh !== undefined)
    return rememberedPage(folder, fresh, directory, { before, uri, want: page, kept: { ...key, names } });
  // Awaited, because returning closes the directory.
  await using content = await forContent(folder, directory, uri);
  return await listAgain(folder, content, filter, part, key);
}

/** Opens a found directory to read its names. This needs the right to read, which finding the directory does not need. */
async function forContent({ disk }: Folder, directory: Found, uri: string): Promise<Found> {
  try {
    const opened = await readable(directory.opened, disk);
    return { ...directory, opened, [Symbol.asyncDispose]: () => opened.handle.close() };
  } catch (error) {
    throw faultOf(error, uri);
  }
}

/** Returns a page, and keeps it if it was requested before. Unchanged entries are the same objects as in the kept page. */
async function listAgain(
  folder: Folder,
  directory: Found,
  filter: NameFilter,
  part: Part,
  key: PageKey,
): Promise<ResourcePage> {
  // Behind a link, a page depends on more than the contents of the directory, so it is not kept.
  const looking = isDirect(directory) ? folder.kept.look(key) : undefined;
  if (looking === undefined) return listOpened(folder, directory, filter, part);
  const names = await namesOf(folder, directory, filter, part);
  const page = await describedPage(folder, directory, names, filter, part, looking);
  folder.kept.set(key, { page, names, looking });
  folder.listed(directory.segments);
  return page;
}

/** Returns the page after a position in a directory that is open for its content. */
export async function listOpened(
  folder: Folder,
  directory: Found,
  filter: NameFilter,
  part: Part,
): Promise<ResourcePage> {
  return describedPage(folder, directory, await namesOf(folder, directory, filter, part), filter, part);
}

const namesOf = ({ snapshots }: Folder, { opened }: Found, filter: NameFilter, { position, uri, signal }: Part) =>
  snapshots.take(opened, filter, position !== undefined, uri, signal).catch((error: unknown) => {
    throw faultOf(error, uri);
  });

function parsePosition(cursor: string): Entry {
  const kind = cursor.slice(0, 1);
  if (kind !== 'd' && kind !== 'f' && kind !== 'l') throw invalid('The cursor is not one of this provider');
  return { kind: kind satisfies EntryKind, name: cursor.slice(1) };
}
