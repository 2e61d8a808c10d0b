/** Makes a hierarchy of a server whose read of a directory answers with the contents of many URIs (2093-13). */
import { notFound } from '../core/errors.ts';
import { DIRECTORY_MIME_TYPE } from '../protocol/resources.ts';
import type {
  HierarchyContents,
  HierarchyContext,
  HierarchyPage,
  HierarchyResource,
  ResourceHierarchy,
} from './hierarchy.ts';

/** A server from before SEP-2093. */
export interface ReadingServer {
  /** A page of its list, as it is. */
  list(cursor: string | undefined, context: HierarchyContext): Promise<HierarchyPage> | HierarchyPage;
  /** Contents of the URI, or of what is in it; undefined where there is no such resource. */
  read(
    uri: string,
    context: HierarchyContext,
  ): Promise<readonly HierarchyContents[] | undefined> | readonly HierarchyContents[] | undefined;
  /** Whether a URI is that of a directory. Without it every resource is read to know, and an empty directory is a leaf. */
  isDirectory?(uri: string): boolean;
}

/** Entries of the server's list that are gone through for what it says of one of them. */
const MAX_LISTED = 1_000;

type Listed = ReadonlyMap<string, HierarchyResource>;

/**
 * The hierarchy of a server whose read of a directory has many URIs: those are its children. All children come in one page,
 * since one read has them all. What the server's list says of a resource is said of it everywhere.
 */
export function hierarchyFromReads(server: ReadingServer): ResourceHierarchy {
  /** Returns the entries of the server's list, by URI. */
  async function listed(context: HierarchyContext): Promise<Listed> {
    const found = new Map<string, HierarchyResource>();
    let cursor: string | undefined;
    do {
      context.signal.throwIfAborted();
      const page = await server.list(cursor, context);
      for (const resource of page.resources) found.set(resource.uri, resource);
      cursor = page.resources.length === 0 ? undefined : page.nextCursor;
    } while (cursor !== undefined && found.size < MAX_LISTED);
    return found;
  }

  /** A resource of which a list or a read says something; undefined where nothing does, and it cannot be read. */
  async function describe(
    uri: string,
    said: HierarchyResource | undefined,
    context: HierarchyContext,
  ): Promise<HierarchyResource | undefined> {
    context.signal.throwIfAborted();
    const list = said?.capabilities?.list ?? server.isDirectory?.(uri);
    if (said !== undefined && list !== undefined) return flagged(said, list);
    const contents = await server.read(uri, context);
    if (contents === undefined) return said && flagged(said, false);
    const own = contents.find((item) => item.uri === uri);
    const resource = { ...(own && withoutContent(own)), ...said, uri };
    return flagged(resource, list ?? contents.some((item) => item.uri !== uri));
  }

  /** One after another: a directory may have many entries, and each may be a read. */
  async function described(
    resources: Iterable<HierarchyResource>,
    known: Listed,
    context: HierarchyContext,
  ): Promise<readonly HierarchyResource[]> {
    const all: HierarchyResource[] = [];
    for (const each of resources) {
      const said = { ...each, ...known.get(each.uri) };
      all.push((await describe(each.uri, said, context)) ?? said);
    }
    return all;
  }

  async function read(uri: string, context: HierarchyContext): Promise<readonly HierarchyContents[]> {
    const contents = await server.read(uri, context);
    if (contents === undefined) throw notFound(uri);
    return contents;
  }

  return {
    async list(uri, cursor, context) {
      if (uri === undefined) {
        const page = await server.list(cursor, context);
        return { ...page, resources: await described(page.resources, new Map(), context) };
      }
      const children = new Map<string, HierarchyResource>();
      for (const item of await read(uri, context)) if (item.uri !== uri) children.set(item.uri, withoutContent(item));
      return { resources: await described(children.values(), await listed(context), context) };
    },
    metadata: async (uri, context) => describe(uri, (await listed(context)).get(uri), context),
    read,
  };
}

function withoutContent({ text: _text, blob: _blob, ...resource }: HierarchyContents & Content): HierarchyResource {
  return resource;
}

interface Content {
  readonly text?: string;
  readonly blob?: string;
}

/** A directory says so by its type, too, unless it has another. */
function flagged(resource: HierarchyResource, list: boolean): HierarchyResource {
  const { mimeType = list ? DIRECTORY_MIME_TYPE : undefined, capabilities } = resource;
  return { ...resource, ...(mimeType !== undefined && { mimeType }), capabilities: { ...capabilities, list } };
}
