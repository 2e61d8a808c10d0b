/** Makes a hierarchy of a server whose read of a directory answers with the contents of many URIs (2093-13). */
import { nameOfUri } from '../core/uri.ts';
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
  /** Whether a URI is that of a directory. Without it an empty directory is taken for missing, and lists read each entry. */
  isDirectory?(uri: string): boolean;
}

/**
 * The hierarchy of a server whose read of a directory has many URIs: those are its children. All children come in one page,
 * since one read has them all. Metadata is had by reading, so that it costs what a read costs.
 */
export function hierarchyFromReads(server: ReadingServer): ResourceHierarchy {
  async function look(uri: string, context: HierarchyContext): Promise<Read | undefined> {
    const contents = await server.read(uri, context);
    const directory = server.isDirectory?.(uri) ?? false;
    if (contents === undefined || (contents.length === 0 && !directory)) return undefined;
    const own = contents.find((item) => item.uri === uri);
    const children = new Map(contents.filter((item) => item.uri !== uri).map((item) => [item.uri, item]));
    const listable = directory || children.size > 0;
    const resource = own === undefined ? { uri, mimeType: DIRECTORY_MIME_TYPE } : withoutContent(own);
    return { resource: flagged(resource, listable), children: [...children.values()] };
  }

  /** An entry of which nothing is known but what another list or read says. */
  async function entry(resource: HierarchyResource, context: HierarchyContext): Promise<HierarchyResource> {
    if (resource.capabilities?.list !== undefined) return resource;
    if (server.isDirectory !== undefined) return flagged(resource, server.isDirectory(resource.uri));
    const seen = await look(resource.uri, context);
    return flagged(resource, seen?.resource.capabilities?.list ?? false);
  }

  /** One after another: a directory may have many entries, and each may be a read. */
  async function entries(
    resources: readonly HierarchyResource[],
    context: HierarchyContext,
  ): Promise<readonly HierarchyResource[]> {
    const all: HierarchyResource[] = [];
    for (const resource of resources) {
      context.signal.throwIfAborted();
      all.push(await entry(resource, context));
    }
    return all;
  }

  return {
    async list(uri, cursor, context) {
      if (uri === undefined) {
        const page = await server.list(cursor, context);
        return { ...page, resources: await entries(page.resources, context) };
      }
      const children = (await look(uri, context))?.children ?? [];
      return { resources: await entries(children.map(withoutContent), context) };
    },
    metadata: async (uri, context) => (await look(uri, context))?.resource,
    read: async (uri, context) => (await server.read(uri, context)) ?? [],
  };
}

interface Read {
  readonly resource: HierarchyResource;
  readonly children: readonly HierarchyContents[];
}

function withoutContent({ text: _text, blob: _blob, ...resource }: HierarchyContents & Content): HierarchyResource {
  return resource;
}

type Content = { readonly text?: string; readonly blob?: string };

const flagged = (resource: HierarchyResource, list: boolean): HierarchyResource => ({
  ...resource,
  name: resource.name ?? nameOfUri(resource.uri) ?? resource.uri,
  capabilities: { ...resource.capabilities, list },
});
