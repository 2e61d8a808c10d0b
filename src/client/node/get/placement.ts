/** Gives each resource a file of its own, whatever names the server gives, and the same file in the next run. */
import { ResourceClientError } from '../../errors.ts';
import { foldName } from '../../file-names.ts';
import { actsAs } from './acting.ts';
import { digest, isSafePath, marked, type Step, stepsOf } from './names.ts';

export interface Placement {
  /** Returns the path of the resource's file below the folder. @throws ResourceClientError `invalid` if no name is left */
  place(uri: string, container: boolean): readonly string[];
  /** Keeps the path that an earlier run gave to a resource. @returns whether the resource may have it */
  keep(uri: string, path: readonly string[]): boolean;
}

/** The file or the folder that a path is taken for. */
type Holder = { readonly kind: 'file'; readonly uri: string } | { readonly kind: 'folder'; readonly raw: string };

/** Digits of a mark. The longer marks are for URIs that a server has made up so that their shorter marks are the same. */
const MARKS = [8, 16, 64] as const;

/**
 * @param start the URI that the run starts at, if it is exactly one
 * @param keep names that stay as they are though tools act on them, as `keptNames` gives them
 */
export function createPlacement(start: string | undefined, keep?: ReadonlySet<string>): Placement {
  // Keys are paths of folded names, since some file systems treat names that fold to the same text as one.
  const taken = new Map<string, Holder>();
  const placed = new Map<string, readonly string[]>();

  const keyOf = (folders: readonly string[], name: string): string => [...folders, name].map(foldName).join('/');

  /** Takes the name, or the first name with a mark that is still free. */
  function take(folders: readonly string[], name: string, holder: Holder, identity: string): string {
    const same = (found: Holder): boolean =>
      found.kind === 'folder' && holder.kind === 'folder' && found.raw === holder.raw;
    for (const candidate of [name, ...MARKS.map((length) => marked(name, digest(identity, length)))]) {
      const key = keyOf(folders, candidate);
      const found = taken.get(key);
      if (found !== undefined && !same(found)) continue;
      taken.set(key, holder);
      return candidate;
    }
    throw new ResourceClientError('invalid', 'No file name is left for this resource', { uri: identity });
  }

  const rawOf = (steps: readonly Step[], count: number): string =>
    JSON.stringify(steps.slice(0, count).map(({ raw }) => raw));

  function folders(steps: readonly Step[], count: number): readonly string[] {
    const path: string[] = [];
    for (const [at, { name }] of steps.slice(0, count).entries()) {
      const raw = rawOf(steps, at + 1);
      path.push(take(path, name, { kind: 'folder', raw }, raw));
    }
    return path;
  }

  return {
    place(uri, container) {
      const earlier = placed.get(uri);
      if (earlier !== undefined) return earlier;
      const steps = stepsOf(uri, start, keep);
      const above = folders(steps, steps.length - 1);
      // The folder of the children gets the name; the file for the container's own contents is beside it, with a mark.
      if (container) folders(steps, steps.length);
      const path = [...above, take(above, steps.at(-1)?.name ?? '_', { kind: 'file', uri }, uri)];
      placed.set(uri, path);
      return path;
    },
    keep(uri, path) {
      if (!isSafePath(path, keep)) return false;
      const steps = stepsOf(uri, start, keep);
      const key = keyOf(path.slice(0, -1), path.at(-1) ?? '');
      if (steps.length !== path.length || taken.has(key) || placed.has(uri)) return false;
      // An earlier run escaped a name that this run keeps as it is.
      if (steps.some(({ name }, at) => actsAs(name) && path[at]?.startsWith(`_${name}`))) return false;
      for (let count = 1; count < path.length; count++) {
        const above = keyOf(path.slice(0, count - 1), path[count - 1] ?? '');
        const found = taken.get(above);
        if (found?.kind === 'file') return false;
        if (found === undefined) taken.set(above, { kind: 'folder', raw: rawOf(steps, count) });
      }
      taken.set(key, { kind: 'file', uri });
      placed.set(uri, path);
      return true;
    },
  };
}
