/** The way from a root down to a URI, as it is spelled. */
import { insideOf, nameOfUri } from '../../core/uri.ts';
import type { Resource } from '../../protocol/resources.ts';

export const isBelow = (uri: string, folder: string): boolean => uri !== folder && uri.startsWith(insideOf(folder));

/** The entries of the default list that lie below no other. The list goes level by level, so these come first. */
export interface Roots {
  readonly all: readonly Resource[];
  /** Adds those of a page that are roots. @returns how many these are */
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

/** The folders above a URI, from its root down to itself; the URI alone where it is below no root. */
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

/** The folder that a URI lies in; undefined for a root, and for what is below none. */
export const parentOf = (roots: readonly Resource[], uri: string): string | undefined =>
  stepsTo(roots, uri).at(-2)?.uri;
