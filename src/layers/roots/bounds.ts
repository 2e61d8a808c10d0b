/** Finds the client's roots in a served folder. */
import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import type { Log } from '../../core/context.ts';
import { parseTreeUri } from '../../core/uri.ts';

/** Names from the folder down to a root; empty for a root that is the folder or holds it. */
export type Bounds = readonly (readonly string[])[];

/** How a resource stands to the roots: below one, on the way down to one, or neither. */
export type Place = 'within' | 'way' | 'outside';

/**
 * Maps roots onto a folder. A root that is no `file:` URI of this machine, is not in its resolved form, or lies elsewhere
 * bounds nothing and so shows nothing.
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
    // Clients name their folders as people do, through links; the served folder is known by its canonical path.
    return namesOf(await realpath(path).catch(() => path));
  } catch (error) {
    log.debug('a root of the client is not usable', { error });
    return undefined;
  }
}

const namesOf = (path: string): readonly string[] => path.split(sep).filter((name) => name !== '');

const startsWith = (names: readonly string[], start: readonly string[]): boolean =>
  start.length <= names.length && start.every((name, index) => names[index] === name);

/** The served folder itself is always on the way: it is the door. */
export function placeOf(bounds: Bounds, segments: readonly string[]): Place {
  if (bounds.some((bound) => startsWith(segments, bound))) return 'within';
  return segments.length === 0 || bounds.some((bound) => startsWith(bound, segments)) ? 'way' : 'outside';
}

/** The names in a container on the way that lead on to a root, in order. */
export function namesBelow(bounds: Bounds, segments: readonly string[]): readonly string[] {
  const next = bounds.filter((bound) => startsWith(bound, segments)).map((bound) => bound[segments.length]);
  return [...new Set(next.filter((name) => name !== undefined))].sort();
}

/** The roots below a container on the way. */
export const boundsBelow = (bounds: Bounds, segments: readonly string[]): Bounds =>
  bounds.filter((bound) => startsWith(bound, segments));
