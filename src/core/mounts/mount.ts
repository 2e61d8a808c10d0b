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
  /** The tools and prompts of the mounted server; undefined if the mount is no server. */
  readonly server?: MountedServer | undefined;
  /** `false` keeps the mount out of the list of mounts: its resources are found by their URIs only. */
  readonly listed?: boolean | undefined;
  /** Whether its resources may be offered in other formats. Default: yes, except for a mounted server. */
  readonly forms?: boolean | undefined;
  /**
   * Which folders with a `SKILL.md` are skills: all (`true`), or those whose paths below the scheme match one of these globs.
   * Default: none; for a mounted server, the skills that it declares.
   */
  readonly skills?: boolean | readonly string[] | undefined;
  /** Whether its resources are in the index. Default: the index settings decide. */
  readonly indexed?: boolean | undefined;
  /**
   * Identifies what is mounted, since replicas may mount different things under the same name. If a watch costs something
   * (`ResourceProvider.heard`), one of the replicas whose `source` is the same watches for all of them. Default: the name alone
   * identifies it.
   */
  readonly source?: string | undefined;
  /** Returns the state of the mounted server, as JSON for people and without secrets. */
  readonly health?: (() => object) | undefined;
  /** Returns whether the mount can be reached; while it cannot, Vitrine is not ready. Default: readiness does not depend on it. */
  readonly ready?: (() => Promise<boolean>) | undefined;
}
