/** A provider in its place in the tree. */
import type { Icon } from '../../protocol/resources.ts';
import type { MountedServer } from '../mounted-server.ts';
import type { ResourceProvider } from '../provider.ts';

export interface Mount {
  /** `[a-z][a-z0-9-.]*`: it becomes a part of a URI scheme. */
  readonly name: string;
  readonly provider: ResourceProvider;
  /** `none` publishes the provider's URIs as they are. Default: the mount's name. */
  readonly prefix?: 'name' | 'none' | undefined;
  /** Of its folders and templates, instead of the default ones (973-2). */
  readonly icons?: readonly Icon[] | undefined;
  /** The tools and prompts of the server that is mounted, where it is one. */
  readonly server?: MountedServer | undefined;
  /** `false` keeps it out of lists that begin with the mounts: what it has is found by its URI. */
  readonly listed?: boolean | undefined;
  /** Whether what it has may be offered in other forms than its own. Default: not of a server that is mounted. */
  readonly forms?: boolean | undefined;
  /**
   * Which folders with a `SKILL.md` are skills: all (`true`), or those whose paths below the scheme match one of these globs.
   * Default: none; of a mounted server, those that it declares.
   */
  readonly skills?: boolean | readonly string[] | undefined;
  /** Whether it is in the index, where there is one. Default: as the index says of all. */
  readonly indexed?: boolean | undefined;
  /** How the server is that is mounted, as JSON for people; without secrets. */
  readonly health?: (() => object) | undefined;
  /** Whether it can be reached, of a mount without which the server is not ready. Default: nobody asks. */
  readonly ready?: (() => Promise<boolean>) | undefined;
}
