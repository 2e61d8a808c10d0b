/** Finds the links on a path, only to watch them: opening a file checks its path separately. */
import { realpath } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { faultOf, isAbsent, systemCode } from './fault.ts';

/** The native function makes one system call; the JavaScript one makes one for each name of a path. */
const real = promisify(realpath.native);

/** The most links that are followed on one path, as many as Linux follows. */
const MAX_LINKS = 40;

export interface Way {
  /** The paths of the links, from first to last. */
  readonly links: readonly (readonly string[])[];
  /** The end of the path after all links, whether or not a file is there; undefined when it is outside the root. */
  readonly end: readonly string[] | undefined;
}

/**
 * Follows the links of a path below `root`, as far as they lead. `root` itself contains no link.
 * @throws a system error that leaves open whether there is a link
 */
export async function wayOf(root: string, segments: readonly string[]): Promise<Way> {
  // Most paths exist and have no link: one call confirms that.
  const path = join(root, ...segments);
  if ((await real(path).catch(() => undefined)) === path) return { links: [], end: segments };
  const links: (readonly string[])[] = [];
  const rest = [...segments];
  let at: string[] = [];
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (at.pop() === undefined) return { links, end: undefined };
      continue;
    }
    at.push(name);
    const target = await targetOf(join(root, ...at));
    if (target === undefined) continue;
    if (links.push(at) > MAX_LINKS) return { links, end: undefined };
    at = isAbsolute(target) ? [] : at.slice(0, -1);
    rest.unshift(...(isAbsolute(target) ? relative(root, target) : target).split(sep));
  }
  return { links, end: at };
}

/** The errors of file systems that have no links. */
const WITHOUT_LINKS: ReadonlySet<unknown> = new Set(['EISDIR', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'UNKNOWN']);

/** Returns the target of a link; undefined where there is none, or where the server may not look. */
async function targetOf(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (isAbsent(faultOf(error, '')) || WITHOUT_LINKS.has(systemCode(error))) return undefined;
    throw error;
  }
}
