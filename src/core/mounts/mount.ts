/** A mount: a provider with a name in the tree. */
import type { Icon } from '../../protocol/resources.ts';
import type { ResourceProvider } from '../provider.ts';
import type { MountedServer } from './mounted-server.ts';

export interface Mount {
  /** `[a-z][a-z0-9-.]*`: it becomes a part of a URI scheme. */
  readonly name: string;
  readonly provider: ResourceProvider;
  /** `none` publishes the provider's URIs unchanged. Default: the mount's name. */
  readonly prefix?: 'name' | 'none' | undefined;
  /** Icons of its folders and templates, instead of the default ones (973-2). */
  readonly icons?: readonly Icon[] | undefined;
  /** The tools and prompts of the mounted server; undefined if it is no server. */
  readonly server?: MountedServer | undefined;
  /** `false` keeps it out of the list of mounts: its resources are found by their URIs only. */
  readonly listed?: boolean | undefined;
  /** Whether its resources may be offered in other formats. Default: yes, but not those of a mounted server. */
  readonly forms?: boolean | undefined;
  /**
   * Which folders with a `SKILL.md` are skills: all (`true`), or those whose paths below the scheme match one of these globs.
   * Default: none; of a mounted server, those that it declares.
   */
  readonly skills?: boolean | readonly string[] | undefined;
  /** Whether its resources are in the index. Default: the index settings decide. */
  readonly indexed?: boolean | undefined;
  /**
   * Tells apart what replicas mount under the same name: of those that say the same, one watches for all where that costs
   * (`ResourceProvider.heard`). Default: the same name is the same source.
   */
  readonly source?: string | undefined;
  /** The state of the mounted server, as JSON for people; without secrets. */
  readonly health?: (() => object) | undefined;
  /** Whether the mount can be reached; Vitrine is not ready while it cannot. Default: Vitrine is ready without it. */
  readonly ready?: (() => Promise<boolean>) | undefined;
}
