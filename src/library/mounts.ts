/** Mounts as a program names them: `{ poems: provider }`, as YAML has it. */
import type { Mount } from '../core/mounts/mount.ts';
import type { ResourceProvider } from '../core/provider.ts';

/** A mount without its name: a provider with what is said of it. What `upstream` returns is one. */
export type MountSettings = Omit<Mount, 'name' | 'ready'> & {
  /** Whether a server cannot be ready without it, and how to find out; not what `upstream` says of itself. */
  readonly required?: Mount['ready'];
};

/** Mounts by their names. The order of the keys is that of the tree. */
export type NamedMounts = Readonly<Record<string, ResourceProvider | MountSettings>>;

/** The list of mounts that the engine takes. */
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
