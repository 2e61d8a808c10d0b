/** Adds folders that are containers, such as repositories, to the lists of the outer provider. */
import type { Origins } from '../../core/again.ts';
import type { Context } from '../../core/context.ts';
import type { Page, ResourcePage } from '../../core/provider.ts';
import { parseTreeUri, treeUri } from '../../core/uri.ts';
import { WALK_META_KEY } from '../../protocol/meta.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import { type FolderContainer, kindOfName } from './container.ts';
import type { FolderKind, NestedKind, Outer } from './kind.ts';

export interface Folders {
  /** Lists as the outer provider does, and adds the folder containers that it hides, such as `.git`, at the end. */
  list(uri: string | undefined, page: Page, ctx: Context): Promise<ResourcePage>;
  metadata(container: FolderContainer, ctx: Context): Promise<Resource>;
  /** Describes a folder of the outer provider as a container, if it is one; else returns the resource as it is. */
  entered(resource: Resource, kind: FolderKind, segments: readonly string[]): Promise<Resource>;
}

/** The cursor of a page that has only the added folders. No name contains a slash, so it cannot be a cursor of the outer provider. */
const LAST = '/last';

export function foldersIn(outer: Outer, kinds: readonly NestedKind[], origins: Pick<Origins, 'made'>): Folders {
  const { provider: outerProvider, scheme } = outer;
  const folderKinds = kinds.filter((kind) => kind.isFolder === true);

  const described = (resource: Resource, { title }: FolderKind): Resource => ({
    ...resource,
    title,
    _meta: { ...resource._meta, [WALK_META_KEY]: false },
  });

  const entryOf = (kind: FolderKind, segments: readonly string[]): Resource =>
    described(
      {
        uri: treeUri(scheme, segments),
        name: kind.nameInParent,
        mimeType: DIRECTORY_MIME_TYPE,
        capabilities: { list: true, subscribe: outerProvider.features.watch },
      },
      kind,
    );

  /** Whether an entry may become a folder container without a change of the folder that it lies in. */
  async function isUnfinished({ uri, capabilities }: Resource): Promise<boolean> {
    if (capabilities?.list !== true) return false;
    const { segments } = parseTreeUri(uri, scheme);
    const kind = kindOfName(folderKinds, segments.at(-1));
    return kind?.isFolder === true && (await outer.folder?.(segments, kind.has)) === 'unfinished';
  }

  async function list(uri: string, page: Page, ctx: Context): Promise<ResourcePage> {
    const isLast = page.cursor === LAST;
    const given = isLast ? { resources: [] } : await outerProvider.list(uri, page, ctx);
    for (const entry of given.resources) if (await isUnfinished(entry)) return withLast(uri, page, { ...given });
    return withLast(uri, page, given);
  }

  async function withLast(uri: string, page: Page, given: ResourcePage): Promise<ResourcePage> {
    // A walk over the tree, which asks for containers only, must not go down into the added folders.
    if (given.nextCursor !== undefined || page.containersOnly) return given;
    const { segments } = parseTreeUri(uri, scheme);
    const last: Resource[] = [];
    for (const kind of folderKinds) {
      const path = [...segments, kind.nameInParent];
      const found = await outer.folder?.(path, kind.has);
      if (found === undefined || (await outer.shows?.(path, true)) === true) continue;
      // A copy of the page is not kept, so the next list looks again: nothing reports when the folder is finished.
      if (found === 'unfinished') return { ...given };
      last.push(entryOf(kind, path));
    }
    if (last.length === 0) return given;
    const isFull = given.resources.length + last.length > page.limit && given.resources.length > 0;
    return origins.made(
      isFull ? { ...given, nextCursor: LAST } : { ...given, resources: [...given.resources, ...last] },
      given,
    );
  }

  async function entered(resource: Resource, kind: FolderKind, segments: readonly string[]): Promise<Resource> {
    const found = await outer.folder?.(segments, kind.has);
    return found === undefined || found === 'unfinished' ? resource : described(resource, kind);
  }

  return {
    list: (uri, page, ctx) =>
      uri === undefined || folderKinds.length === 0 ? outerProvider.list(uri, page, ctx) : list(uri, page, ctx),
    async metadata({ kind, segments, uri }, ctx) {
      const isShown = segments.at(-1) !== kind.nameInParent || (await outer.shows?.(segments, true)) === true;
      return isShown ? entered(await outerProvider.metadata(uri, ctx), kind, segments) : entryOf(kind, segments);
    },
    entered,
  };
}
