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

/** A server without SEP-2093. */
export interface ReadingServer {
  /** Returns a page of its list, unchanged. */
  list(cursor: string | undefined, context: HierarchyContext): Promise<HierarchyPage> | HierarchyPage;
  /** Returns the contents of the URI, or of a directory's children; undefined where there is no such resource. */
  read(
    uri: string,
    context: HierarchyContext,
  ): Promise<readonly HierarchyContents[] | undefined> | readonly HierarchyContents[] | undefined;
  /** Whether a URI is a directory. Without this function, every resource is read to find out; an empty directory is a leaf. */
  isDirectory?(uri: string): boolean;
}

/** The most entries of the server's list that are searched for the description of one resource. */
const MAX_LISTED = 1_000;

type Listed = ReadonlyMap<string, HierarchyResource>;

/**
 * Makes a hierarchy of a server whose read of a directory returns contents with many URIs: these are its children. All
 * children are on one page, since a single read returns them all. A description in the server's list applies wherever
 * the resource appears.
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

  /** Describes a resource from a list or a read; undefined where neither describes it and it cannot be read. */
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

  /** Describes resources one after another: a directory may have many entries, and each may need a read. */
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

/** A directory also gets the directory type, unless it has another type. */
function flagged(resource: HierarchyResource, list: boolean): HierarchyResource {
  const { mimeType = list ? DIRECTORY_MIME_TYPE : undefined, capabilities } = resource;
  return { ...resource, ...(mimeType !== undefined && { mimeType }), capabilities: { ...capabilities, list } };
}
