/** The links that a path leads through. Only for watching them: what is opened is checked when it is opened. */
import { realpath } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';

/** The system's own, which asks once; the other one asks for each name of a path. */
const real = promisify(realpath.native);

/** Links that are followed on one path, as many as Linux follows. */
const MAX_LINKS = 40;

export interface Way {
  /** The paths of the links, from first to last. */
  readonly links: readonly (readonly string[])[];
  /** The end of the path, through no link, whether or not something is there; undefined when that is not below the root. */
  readonly end: readonly string[] | undefined;
}

/** Follows a path below `root`, in which there is no link itself, link by link, as far as it leads. */
export async function wayOf(root: string, segments: readonly string[]): Promise<Way> {
  // Most paths lead through no link, and are there: one look says so.
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
    const target = await readlink(join(root, ...at)).catch(() => undefined);
    if (target === undefined) continue;
    if (links.push(at) > MAX_LINKS) return { links, end: undefined };
    at = isAbsolute(target) ? [] : at.slice(0, -1);
    rest.unshift(...(isAbsolute(target) ? relative(root, target) : target).split(sep));
  }
  return { links, end: at };
}
