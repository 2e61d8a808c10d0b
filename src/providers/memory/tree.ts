/** Keeps items in a tree by path. A folder exists as long as it has children. */
import { invalid } from '../../core/errors.ts';
import { nameProblem } from '../../core/uri.ts';
import type { Resource } from '../../protocol/resources.ts';

/** The description of a resource, and its content: exactly one of `text` and `bytes`. */
export type MemoryResource = Partial<Omit<Resource, 'uri' | 'size' | 'capabilities'>> &
  ({ readonly text: string; readonly bytes?: undefined } | { readonly bytes: Uint8Array; readonly text?: undefined });

export interface Item {
  readonly kind: 'item';
  readonly resource: MemoryResource;
  readonly bytes: Uint8Array;
  /** ISO 8601. */
  readonly lastModified: string;
}

export interface Directory {
  readonly kind: 'directory';
  readonly children: Map<string, Directory | Item>;
}

export interface SortedEntry {
  /** The key that lists are sorted by: directories before items, then by name. It is unique in its directory, so it is a cursor. */
  readonly key: string;
  readonly name: string;
  readonly node: Directory | Item;
}

export interface Tree {
  readonly root: Directory;
  find(segments: readonly string[]): Directory | Item | undefined;
  /** Adds or replaces an item. Returns whether it is new. @throws ResourceError `invalid` */
  set(path: string, resource: MemoryResource): boolean;
  /** Deletes an item, and the folders that are empty without it. Returns whether there was one. @throws ResourceError `invalid` */
  delete(path: string): boolean;
  /** Returns the children of a directory in the order of lists. */
  sorted(directory: Directory): readonly SortedEntry[];
}

const encoder = new TextEncoder();

export function createTree(): Tree {
  const root: Directory = { kind: 'directory', children: new Map() };
  /** The sorted children of each directory, kept until they change. */
  const sortedChildren = new WeakMap<Directory, readonly SortedEntry[]>();

  return {
    root,
    find(segments) {
      let node: Directory | Item | undefined = root;
      for (const name of segments) node = node?.kind === 'directory' ? node.children.get(name) : undefined;
      return node;
    },
    set(path, resource) {
      const segments = split(path);
      const name = segments.pop() ?? '';
      let directory = root;
      for (const segment of segments) {
        const next = directory.children.get(segment);
        if (next?.kind === 'item') throw invalid(`"${segment}" in "${path}" is a resource, so nothing can be below it`);
        const child: Directory = next ?? { kind: 'directory', children: new Map() };
        directory.children.set(segment, child);
        sortedChildren.delete(directory);
        directory = child;
      }
      const existing = directory.children.get(name);
      if (existing?.kind === 'directory') throw invalid(`"${path}" is a folder, because there are resources below it`);
      const bytes = resource.text === undefined ? resource.bytes : encoder.encode(resource.text);
      directory.children.set(name, { kind: 'item', resource, bytes, lastModified: new Date().toISOString() });
      sortedChildren.delete(directory);
      return existing === undefined;
    },
    delete(path) {
      const segments = split(path);
      const trail: Directory[] = [root];
      for (const segment of segments.slice(0, -1)) {
        const next = trail.at(-1)?.children.get(segment);
        if (next?.kind !== 'directory') return false;
        trail.push(next);
      }
      const name = segments.at(-1) ?? '';
      if (trail.at(-1)?.children.get(name)?.kind !== 'item') return false;
      for (const [index, directory] of [...trail.entries()].reverse()) {
        directory.children.delete(segments[index] ?? '');
        sortedChildren.delete(directory);
        if (directory.children.size > 0) break;
      }
      return true;
    },
    sorted(directory) {
      const kept = sortedChildren.get(directory);
      if (kept !== undefined) return kept;
      const entries = [...directory.children].map(
        ([name, node]): SortedEntry => ({ key: `${node.kind === 'directory' ? 'd' : 'f'}${name}`, name, node }),
      );
      entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
      sortedChildren.set(directory, entries);
      return entries;
    },
  };
}

function split(path: string): string[] {
  const segments = path.split('/');
  for (const segment of segments) {
    const problem = nameProblem(segment);
    if (problem !== undefined) throw invalid(`"${path}": ${problem}`);
  }
  return segments;
}
