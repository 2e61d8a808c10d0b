/** Maps the client's roots to places in a served folder. */
import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import type { Log } from '../../core/context.ts';
import { parseTreeUri } from '../../core/uri.ts';

/** The path from the folder down to each root; empty for a root that is the folder or contains it. */
export type Bounds = readonly (readonly string[])[];

/** The position of a resource: below a root, on the way down to one, or neither. */
export type Place = 'within' | 'way' | 'outside';

/**
 * Maps roots to a folder. A root is ignored, and so shows nothing, if it is not a `file:` URI of this machine, is not
 * in resolved form, or lies outside the folder.
 * @param folder canonical path of the served folder
 */
export async function boundsOf(folder: string, roots: readonly string[], log: Log): Promise<Bounds> {
  const base = namesOf(folder);
  const found = await Promise.all(roots.map((root) => canonicalNames(root, log)));
  return found.flatMap((names) => {
    if (names === undefined) return [];
    if (startsWith(base, names)) return [[]];
    return startsWith(names, base) ? [names.slice(base.length)] : [];
  });
}

async function canonicalNames(root: string, log: Log): Promise<readonly string[] | undefined> {
  try {
    const path = sep + parseTreeUri(root, 'file').segments.join(sep);
    // Clients may name a folder through links, but the served folder has its canonical path.
    return namesOf(await realpath(path).catch(() => path));
  } catch (error) {
    log.debug('a root of the client is not usable', { error });
    return undefined;
  }
}

const namesOf = (path: string): readonly string[] => path.split(sep).filter((name) => name !== '');

const startsWith = (names: readonly string[], start: readonly string[]): boolean =>
  start.length <= names.length && start.every((name, index) => names[index] === name);

/** Returns the place of a resource. The served folder itself is never outside: it is at least on the way. */
export function placeOf(bounds: Bounds, segments: readonly string[]): Place {
  if (bounds.some((bound) => startsWith(segments, bound))) return 'within';
  return segments.length === 0 || bounds.some((bound) => startsWith(bound, segments)) ? 'way' : 'outside';
}

/** Returns the names in a container that lead on to a root, in order. */
export function namesBelow(bounds: Bounds, segments: readonly string[]): readonly string[] {
  const next = bounds.filter((bound) => startsWith(bound, segments)).map((bound) => bound[segments.length]);
  return [...new Set(next.filter((name) => name !== undefined))].sort();
}

/** Returns the roots below a container. */
export const boundsBelow = (bounds: Bounds, segments: readonly string[]): Bounds =>
  bounds.filter((bound) => startsWith(bound, segments));
