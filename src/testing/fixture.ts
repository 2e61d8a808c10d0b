/** The types by which a test gives the provider contract a provider that is ready, what is in it, and how to change it. */
import type { ResourceProvider } from '../core/provider.ts';

/** Leaves by path, names joined by `/`, and their bytes. The containers are the paths on the way to them. */
export type Leaves = ReadonlyMap<string, Uint8Array>;

/** Changes the data behind a provider in the way that others change it: for a folder, through the file system. */
export interface Mutations {
  /** Makes a leaf that is not there yet, in a container that is. */
  create(path: string, text: string): Promise<void> | void;
  /** Gives a leaf that is there another content. */
  replace(path: string, text: string): Promise<void> | void;
  /** Removes a leaf that is there. */
  remove(path: string): Promise<void> | void;
}

/** A provider under test. Every law gets one of its own. */
export interface ProviderFixture {
  readonly provider: ResourceProvider;
  /** The contents now. At least one leaf; the more kinds of names, sizes and depths, the more the laws prove. */
  readonly leaves: Leaves;
  /** Paths of what `list(undefined)` gives. Default: `['']`, one root with everything below it. */
  readonly roots?: readonly string[];
  /** The URI of a path, as the provider writes it. It is asked for paths that are not there, too. */
  uriOf(path: string): string;
  /** URIs are paths with slashes, so that one more at the end names a container. Default: false. */
  readonly hierarchical?: boolean;
  /** Left out where the data cannot be changed: laws about change are then not tested, and say so. */
  readonly mutate?: Mutations;
  /** How long a change may take until it is told, in milliseconds. Default: 5,000. */
  readonly patienceMs?: number;
  /** Closes the provider and removes what was made for the test. */
  close(): Promise<void>;
}

/**
 * Makes a provider with `seed` in it. One that cannot hold just anything may take a part of it, or have other leaves:
 * what counts is what the fixture says is there.
 */
export type MakeFixture = (seed: Leaves) => Promise<ProviderFixture> | ProviderFixture;

/** A path, or a name at the top, of a container. */
export const join = (container: string, name: string): string => (container === '' ? name : `${container}/${name}`);

/** The path of the container that a path lies in. */
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** Paths of what `list(undefined)` gives. */
export const rootsOf = (fixture: ProviderFixture): readonly string[] => fixture.roots ?? [''];

/** Paths of all containers, the roots among them. */
export function containersOf(fixture: ProviderFixture): readonly string[] {
  const containers = new Set<string>();
  for (const leaf of fixture.leaves.keys()) {
    for (let path = leaf; path !== ''; ) {
      path = parentOf(path);
      if (isReachable(fixture, path)) containers.add(path);
    }
  }
  return [...containers];
}

const isReachable = (fixture: ProviderFixture, path: string): boolean =>
  rootsOf(fixture).some((root) => root === '' || path === root || path.startsWith(`${root}/`));

/** Paths of the direct children of a container, in no order. */
export function childrenOf(fixture: ProviderFixture, container: string): readonly string[] {
  const prefix = container === '' ? '' : `${container}/`;
  const names = [...fixture.leaves.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length).split('/', 1)[0] ?? '');
  return [...new Set(names)].map((name) => join(container, name));
}

/** The container with the most leaves directly in it, or undefined where there are no containers. */
export function busiestContainer(fixture: ProviderFixture): string | undefined {
  const leavesIn = (container: string): number =>
    childrenOf(fixture, container).filter((path) => fixture.leaves.has(path)).length;
  return [...containersOf(fixture)].sort((a, b) => leavesIn(b) - leavesIn(a))[0];
}

/** The leaf with the most bytes. */
export function largestLeaf(fixture: ProviderFixture): string {
  const [largest] = [...fixture.leaves].sort(([, a], [, b]) => b.byteLength - a.byteLength);
  if (largest === undefined) throw new Error('The fixture has no leaves, so nothing can be proved with it');
  return largest[0];
}

/** A path at which there is nothing. */
export function missingPath(fixture: ProviderFixture, name = 'nothing-has-this-name.txt'): string {
  return join(containersOf(fixture)[0] ?? '', name);
}
