/** Lets a program write mounts as an object, `{ poems: provider }`, as the YAML configuration does. */
import { invalid } from '../core/errors.ts';
import type { Mount } from '../core/mounts/mount.ts';
import type { ResourceProvider } from '../core/provider.ts';
import type { Engine } from '../engine/index.ts';
import type { ServedMounts } from '../engine/live-mounts.ts';

/** A mount without its name: a provider with settings. `upstream` returns one. */
export type MountSettings = Omit<Mount, 'name' | 'ready'> & {
  /** Checks whether the mount is ready, for a server that is not ready without it; replaces the check of `upstream`. */
  readonly required?: Mount['ready'];
};

/** Mounts by name. The order of the keys is the order in the tree. */
export type NamedMounts = Readonly<Record<string, ResourceProvider | MountSettings>>;

/** The mounts and folders of prompts that `replaceMounts` puts in place of the present ones. */
export type NextMounts = Omit<ServedMounts, 'mounts'> & { readonly mounts: readonly Mount[] | NamedMounts };

/** Returns the list of mounts for the engine. */
export function mountsOf(mounts: readonly Mount[] | NamedMounts): readonly Mount[] {
  if (isList(mounts)) return mounts;
  return Object.entries(mounts).map(([name, mounted]) => {
    if (isProvider(mounted)) return { name, provider: mounted };
    const { provider, prefix, icons, server, listed, forms, skills, health, required } = mounted;
    return { name, provider, prefix, icons, server, listed, forms, skills, health, ready: required };
  });
}

const isList = (mounts: readonly Mount[] | NamedMounts): mounts is readonly Mount[] => Array.isArray(mounts);

const isProvider = (mounted: ResourceProvider | MountSettings): mounted is ResourceProvider => 'features' in mounted;

/** @throws ResourceError `invalid` if the engine was made without `replaceable`, or the mounts are ambiguous */
export async function replaceMounts(engine: Engine, { mounts, ...next }: NextMounts): Promise<void> {
  if (engine.replaceMounts === undefined)
    throw invalid('The mounts cannot be replaced; make the Vitrine with replaceable: true');
  await engine.replaceMounts({ ...next, mounts: mountsOf(mounts) });
}
