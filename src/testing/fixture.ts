/**
 * A fixture describes a provider to the provider contract: the provider's contents, its URIs, and how to change its data. The
 * functions here find the containers and leaves of a fixture.
 */
import type { ResourceProvider } from '../core/provider.ts';

/** The bytes of leaves by path. A path is names joined by `/`. Each path above a leaf is a container. */
export type Leaves = ReadonlyMap<string, Uint8Array>;

/** Changes the data behind a provider, as other programs would: for a folder, through the file system. */
export interface Mutations {
  /** Makes a new leaf in an existing container. */
  create(path: string, text: string): Promise<void> | void;
  /** Replaces the content of an existing leaf. */
  replace(path: string, text: string): Promise<void> | void;
  /** Removes an existing leaf. */
  remove(path: string): Promise<void> | void;
}

/** A provider under test. Every law gets one of its own. */
export interface ProviderFixture {
  readonly provider: ResourceProvider;
  /** The leaves in the provider, at least one. More kinds of names, sizes and depths prove more. */
  readonly leaves: Leaves;
  /** The paths of the resources that `list(undefined)` gives. Default: `['']`, one root above all leaves. */
  readonly roots?: readonly string[];
  /** The URI of a path, as the provider writes it. Laws call it also for paths without a resource. */
  uriOf(path: string): string;
  /** Whether URIs are paths with slashes, so that a container may also be named with a slash at the end. Default: false. */
  readonly hierarchical?: boolean;
  /** Changes the data. Default: the data cannot be changed, and laws about changes are reported as not tested. */
  readonly mutate?: Mutations;
  /** How long the provider may take to report a change, in milliseconds. Default: 5,000. */
  readonly patienceMs?: number;
  /** Closes the provider, and removes all data that was made for the test. */
  close(): Promise<void>;
}

/**
 * Makes a provider with the leaves of `seed`. A provider that cannot hold all of them may have a part of them, or other leaves:
 * the laws use the leaves that the fixture names.
 */
export type MakeFixture = (seed: Leaves) => Promise<ProviderFixture> | ProviderFixture;

/** The path of a name in a container. */
export const join = (container: string, name: string): string => (container === '' ? name : `${container}/${name}`);

/** The path of the container that a path lies in. */
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** The paths of the resources that `list(undefined)` gives. */
export const rootsOf = (fixture: ProviderFixture): readonly string[] => fixture.roots ?? [''];

/** The paths of all containers, with the roots that are containers. */
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

/** The paths of the direct children of a container, in no particular order. */
export function childrenOf(fixture: ProviderFixture, container: string): readonly string[] {
  const prefix = container === '' ? '' : `${container}/`;
  const names = [...fixture.leaves.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length).split('/', 1)[0] ?? '');
  return [...new Set(names)].map((name) => join(container, name));
}

/** The container with the most direct leaves; undefined if there are no containers. */
export function busiestContainer(fixture: ProviderFixture): string | undefined {
  const leavesIn = (container: string): number =>
    childrenOf(fixture, container).filter((path) => fixture.leaves.has(path)).length;
  return [...containersOf(fixture)].sort((a, b) => leavesIn(b) - leavesIn(a))[0];
}

/** The path of the leaf with the most bytes. @throws Error if the fixture has no leaves */
export function largestLeaf(fixture: ProviderFixture): string {
  const [largest] = [...fixture.leaves].sort(([, a], [, b]) => b.byteLength - a.byteLength);
  if (largest === undefined) throw new Error('The fixture has no leaves, so nothing can be proved with it');
  return largest[0];
}

/** A path without a resource. */
export function missingPath(fixture: ProviderFixture, name = 'nothing-has-this-name.txt'): string {
  return join(containersOf(fixture)[0] ?? '', name);
}
