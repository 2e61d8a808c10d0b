/** Finds the roots and folders above a URI by its spelling. */
import { insideOf, nameOfUri } from '../../core/uri.ts';
import type { Resource } from '../../protocol/resources.ts';

export const isBelow = (uri: string, folder: string): boolean => uri !== folder && uri.startsWith(insideOf(folder));

/** Collects the roots: the entries of the default list that are below no other entry. The list goes level by level, so roots come first. */
export interface Roots {
  readonly all: readonly Resource[];
  /** Adds the entries of a page that are roots. @returns how many were added */
  add(page: readonly Resource[]): number;
}

export function createRoots(): Roots {
  const all: Resource[] = [];
  const uris = new Set<string>();

  function isWithin(uri: string): boolean {
    if (uris.has(uri)) return true;
    for (let at = uri.indexOf('/'); at >= 0; at = uri.indexOf('/', at + 1))
      if (uris.has(uri.slice(0, at)) || uris.has(uri.slice(0, at + 1))) return true;
    return false;
  }

  return {
    all,
    add(page) {
      const before = all.length;
      for (const each of page) {
        if (isWithin(each.uri)) continue;
        uris.add(each.uri);
        all.push(each);
      }
      return all.length - before;
    },
  };
}

export const rootOf = (roots: readonly Resource[], uri: string): Resource | undefined =>
  roots.find((root) => root.uri === uri || isBelow(uri, root.uri));

export interface Step {
  readonly uri: string;
  readonly name: string;
}

/** Returns the folders that lead to a URI, from its root to the URI itself; only the URI if it is below no root. */
export function stepsTo(roots: readonly Resource[], uri: string): readonly Step[] {
  const root = rootOf(roots, uri);
  if (root === undefined) return [{ uri, name: nameOfUri(uri) ?? uri }];
  const base = insideOf(root.uri);
  const parts = uri.length > base.length ? uri.slice(base.length).split('/') : [];
  return [
    { uri: root.uri, name: root.title ?? root.name },
    ...parts.map((_, index) => {
      const at = base + parts.slice(0, index + 1).join('/');
      return { uri: at, name: nameOfUri(at) ?? at };
    }),
  ];
}

/** Returns the folder that contains a URI; undefined for a root, and for a URI below no root. */
export const parentOf = (roots: readonly Resource[], uri: string): string | undefined =>
  stepsTo(roots, uri).at(-2)?.uri;
