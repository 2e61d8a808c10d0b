/** Makes names of mounts out of other names: names of servers in hosts, paths and URLs. */
import { MAX_MOUNT_NAME_LENGTH, mountNameProblem } from '../core/mounts.ts';

export interface NamedServer {
  /** The name of the server in the host. */
  readonly title: string;
  /** The name of the mount. */
  readonly name: string;
  /** Why it cannot be a mount. */
  readonly problem?: string | undefined;
}

/**
 * Makes a mount name for each server of a host. The server's own name may have any characters. @param taken names of other mounts
 */
export function nameServers(titles: readonly string[], taken: readonly string[]): readonly NamedServer[] {
  const owners = new Map<string, string>();
  return titles.map((title) => {
    const name = slug(title);
    const owner = owners.get(name);
    owners.set(name, owner ?? title);
    const problem = mountNameProblem(name);
    if (problem !== undefined) return { title, name, problem: `${problem}; rename the server` };
    if (owner !== undefined)
      return { title, name, problem: `"${owner}" and "${title}" both become the mount "${name}"; rename one` };
    if (taken.includes(name))
      return {
        title,
        name,
        problem: `The server becomes the mount "${name}", and there already is a mount of that name; rename one of them`,
      };
    return { title, name };
  });
}

/** Makes a mount name of any text; empty if the text has no letter from a to z. */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, MAX_MOUNT_NAME_LENGTH)
    .replace(/[-.]+$/, '');
