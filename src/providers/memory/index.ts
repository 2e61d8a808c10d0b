/**
 * Resources in the memory of this process: literal texts of a configuration, or the state of a program that embeds Vitrine. It is
 * the simplest provider to learn from. URIs are `memory:///notes/today.md`, or have another scheme on request.
 *
 * @example
 * const notes = memoryProvider({ name: 'notes', resources: { 'today.md': { text: '# Today' } } });
 * notes.set('tomorrow.md', { text: '# Tomorrow' });
 */
import { isSameRange, markRepeatable, withAgain } from '../../core/again.ts';
import { bytesOf, type ResourceBody } from '../../core/body.ts';
import { invalid, notFound, notListable } from '../../core/errors.ts';
import { mimeTypeOfName } from '../../core/formats/mime-type.ts';
import type { ChangeEvent, Page, ReadOptions, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { parseTreeUri, treeUri } from '../../core/uri.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import { completeTreePath, type TreeEntry } from '../tree-completion.ts';
import { createTree, type Directory, type Item, type MemoryResource } from './tree.ts';

export type { MemoryResource } from './tree.ts';

export interface MemoryOptions {
  /** The name of the root. Default: `memory`. */
  readonly name?: string;
  /** The scheme of its URIs. Default: `memory`. */
  readonly scheme?: string;
  /** Resources by path, such as `guide/intro.md`. Folders exist as long as they have children. */
  readonly resources?: Readonly<Record<string, MemoryResource>>;
  /** The resources never change: nobody can subscribe, and `set` and `delete` fail. Default: `false`. */
  readonly fixed?: boolean;
}

export interface MemoryProvider extends ResourceProvider {
  /** Adds or replaces a resource. @throws ResourceError `invalid` for a malformed path, and where the resources are fixed */
  set(path: string, resource: MemoryResource): void;
  /** Removes a resource; returns whether it existed. @throws ResourceError `invalid`, like `set` */
  delete(path: string): boolean;
}

export function memoryProvider(options: MemoryOptions = {}): MemoryProvider {
  const scheme = options.scheme ?? 'memory';
  const name = options.name ?? 'memory';
  const subscribe = options.fixed !== true;
  const tree = createTree();
  /** The URI, range and item from which bodies were read. */
  const origins = new WeakMap<
    readonly ResourceBody[],
    Pick<ReadOptions, 'range'> & { readonly uri: string; readonly item: Item }
  >();
  /** The request and the version from which pages were made; every change makes another version. */
  const pages = new WeakMap<
    ResourcePage,
    { readonly uri: string | undefined; readonly want: Page; readonly version: number }
  >();
  let version = 0;
  const watchers = new Set<{ readonly path: string | undefined; readonly tell: (event: ChangeEvent) => void }>();
  for (const [path, resource] of Object.entries(options.resources ?? {})) tree.set(path, resource);

  /** @throws ResourceError `not-found`, `invalid` */
  function find(uri: string): { segments: readonly string[]; node: Directory | Item } {
    const { segments, trailingSlash } = parseTreeUri(uri, scheme);
    const node = tree.find(segments);
    if (node === undefined || (trailingSlash && node.kind === 'item')) throw notFound(uri);
    return { segments, node };
  }

  function assertChangeable(): void {
    if (!subscribe) throw invalid('These resources are fixed');
  }

  function isThere(uri: string, item: Item): boolean {
    return tree.find(parseTreeUri(uri, scheme).segments) === item;
  }

  function resourceOf(segments: readonly string[], node: Directory | Item): Resource {
    const uri = treeUri(scheme, segments);
    const lastName = segments.at(-1) ?? name;
    if (node.kind === 'directory') {
      return { uri, name: lastName, mimeType: DIRECTORY_MIME_TYPE, capabilities: { list: true, subscribe } };
    }
    const { text: _text, bytes: _bytes, ...description } = node.resource;
    const mimeType = description.mimeType ?? mimeTypeOfName(lastName);
    return {
      name: lastName,
      ...description,
      uri,
      ...(mimeType !== undefined && { mimeType }),
      size: node.bytes.byteLength,
      annotations: { lastModified: node.lastModified, ...description.annotations },
      capabilities: { list: false, subscribe },
    };
  }

  function listChildren(uri: string, page: Page): ResourcePage {
    const { segments, node } = find(uri);
    if (node.kind !== 'directory') throw notListable(uri);
    const entries = tree.sorted(node);
    const start = page.cursor === undefined ? 0 : entries.findIndex((entry) => entry.key > (page.cursor ?? ''));
    const shown = start === -1 ? [] : entries.slice(start, start + page.limit);
    const last = shown.at(-1);
    const more = last !== undefined && start + shown.length < entries.length;
    return {
      resources: shown.map((entry) => resourceOf([...segments, entry.name], entry.node)),
      nextCursor: more ? last.key : undefined,
    };
  }

  function bodyOf(resource: Resource, item: Item, want: ReadOptions): ResourceBody {
    if (want.range === undefined) return { resource, content: bytesOf(item.bytes) };
    const { offset, length } = want.range;
    const total = item.bytes.byteLength;
    if (offset > total)
      throw invalid(`The window begins past the end of the resource, which has ${total} bytes`, resource.uri);
    const end = length === undefined ? total : offset + length;
    return { resource, content: bytesOf(item.bytes.subarray(offset, end)), window: { offset, total } };
  }

  function readChildren(segments: readonly string[], directory: Directory, want: ReadOptions): ResourceBody[] {
    if (want.range !== undefined)
      throw invalid('A folder has no bytes to read a window of; list it instead', treeUri(scheme, segments));
    let budget = want.maxBytes;
    return tree
      .sorted(directory)
      .slice(0, want.maxChildren)
      .flatMap((entry): ResourceBody[] => {
        const resource = resourceOf([...segments, entry.name], entry.node);
        const bytes = entry.node.kind === 'item' ? entry.node.bytes : new Uint8Array();
        if (bytes.byteLength > budget) return [];
        budget -= bytes.byteLength;
        return [{ resource, content: bytesOf(bytes), child: true }];
      });
  }

  function tell(path: string, listed: boolean): void {
    const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
    for (const watcher of [...watchers]) {
      if (watcher.path === undefined) {
        if (listed) watcher.tell({ kind: 'list-changed' });
      } else if (watcher.path === path || (listed && isWithin(parent, watcher.path))) {
        watcher.tell({ kind: 'updated', uri: treeUri(scheme, watcher.path === '' ? [] : watcher.path.split('/')) });
      }
    }
  }

  const provider: MemoryProvider = {
    name,
    features: { schemes: [scheme], watch: subscribe, templates: true, completion: true, search: false, ranges: true },

    async list(uri, page, ctx) {
      ctx.signal.throwIfAborted();
      const listed = uri === undefined ? { resources: [resourceOf([], tree.root)] } : listChildren(uri, page);
      pages.set(listed, { uri, want: page, version });
      return markRepeatable(listed);
    },

    async metadata(uri) {
      const { segments, node } = find(uri);
      return resourceOf(segments, node);
    },

    async read(uri, want) {
      const { segments, node } = find(uri);
      if (node.kind === 'directory') return readChildren(segments, node, want);
      const bodies = [bodyOf(resourceOf(segments, node), node, want)];
      origins.set(bodies, { uri, item: node, range: want.range });
      return markRepeatable(bodies);
    },

    async listTemplates() {
      return { resourceTemplates: [{ uriTemplate: `${scheme}:///{+path}`, name: `${name} by path` }] };
    },

    complete: (request) =>
      completeTreePath(`${scheme}:///{+path}`, request, async (segments, prefix) => {
        const node = tree.find(segments);
        if (node?.kind !== 'directory') return [];
        const entries = tree.sorted(node).filter((entry) => entry.name.startsWith(prefix));
        return entries.map((entry): TreeEntry => ({ name: entry.name, isDirectory: entry.node.kind === 'directory' }));
      }),

    ...(subscribe && {
      async watch(uri: string | undefined, onChange: (event: ChangeEvent) => void) {
        const path = uri === undefined ? undefined : parseTreeUri(uri, scheme).segments.join('/');
        const watcher = { path, tell: onChange };
        watchers.add(watcher);
        return { [Symbol.asyncDispose]: async () => void watchers.delete(watcher) };
      },
    }),

    async close() {
      watchers.clear();
    },

    set(path, resource) {
      assertChangeable();
      version++;
      tell(path, tree.set(path, resource));
    },

    delete(path) {
      assertChangeable();
      version++;
      const existed = tree.delete(path);
      if (existed) tell(path, true);
      return existed;
    },
  };
  return withAgain(provider, {
    again(bodies, uri, want) {
      const origin = origins.get(bodies);
      // Every change replaces the item by another object.
      return origin?.uri === uri && isSameRange(origin.range, want.range) && isThere(uri, origin.item);
    },
    listAgain(page, uri, { cursor, limit }) {
      const was = pages.get(page);
      return was?.version === version && was.uri === uri && was.want.cursor === cursor && was.want.limit === limit;
    },
  });
}

/** Whether an item that comes or goes in `parent` may add or remove `folder`, or one of its children. */
const isWithin = (parent: string, folder: string): boolean =>
  folder === '' || parent === folder || parent.startsWith(`${folder}/`);
