/** Which file each resource has: one of its own, whatever names the server gives, and the same one the next time. */
import { ResourceClientError } from '../../errors.ts';
import { foldName } from '../../file-names.ts';
import { actsAs } from './acting.ts';
import { digest, isSafePath, marked, type Step, stepsOf } from './names.ts';

export interface Placement {
  /** The way to the resource's file, from the folder. @throws ResourceClientError `invalid` */
  place(uri: string, container: boolean): readonly string[];
  /** Keeps the path that an earlier run gave to a resource. @returns whether the resource may have it */
  keep(uri: string, path: readonly string[]): boolean;
}

type Taken = { readonly kind: 'file'; readonly uri: string } | { readonly kind: 'folder'; readonly raw: string };

/** How many digits a mark has; more where a server has thought of names with the same. */
const MARKS = [8, 16, 64] as const;

/**
 * @param start the URI that is got, where it is one
 * @param keep names that stay as they are though tools act on them, as `keptNames` gives them
 */
export function createPlacement(start: string | undefined, keep?: ReadonlySet<string>): Placement {
  // By the path in the form that names have in common.
  const taken = new Map<string, Taken>();
  const placed = new Map<string, readonly string[]>();

  const keyOf = (folders: readonly string[], name: string): string => [...folders, name].map(foldName).join('/');

  /** The first name for which there is room. */
  function take(folders: readonly string[], name: string, wanted: Taken, identity: string): string {
    const same = (found: Taken): boolean =>
      found.kind === 'folder' ? wanted.kind === 'folder' && found.raw === wanted.raw : wanted === found;
    for (const each of [name, ...MARKS.map((length) => marked(name, digest(identity, length)))]) {
      const key = keyOf(folders, each);
      const found = taken.get(key);
      if (found !== undefined && !same(found)) continue;
      taken.set(key, wanted);
      return each;
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
      const known = placed.get(uri);
      if (known !== undefined) return known;
      const steps = stepsOf(uri, start, keep);
      const above = folders(steps, steps.length - 1);
      // The folder of what is below has the name; what it says itself is beside it.
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
      // An earlier run escaped a name that stays as it is in this one.
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
