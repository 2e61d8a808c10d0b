/** The way from a root down to a URI, as it is spelled. */
import { nameOfUri } from '../../core/uri.ts';
import type { Resource } from '../../protocol/resources.ts';

const withSlash = (uri: string): string => (uri.endsWith('/') ? uri : `${uri}/`);

export const isBelow = (uri: string, folder: string): boolean => uri !== folder && uri.startsWith(withSlash(folder));

/** The entries of the default list that lie below no other: it goes level by level, so these come first. */
export function rootsAmong(resources: readonly Resource[]): readonly Resource[] {
  const roots: Resource[] = [];
  for (const each of resources) {
    if (roots.some(({ uri }) => uri === each.uri || isBelow(each.uri, uri))) continue;
    roots.push(each);
  }
  return roots;
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
  const base = withSlash(root.uri);
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
