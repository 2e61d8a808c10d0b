/** From configured or typed sources to mounts. */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { type Mount, mountNameProblem, STATE_MOUNT } from '../core/mounts.ts';
import { rootsLayer } from '../layers/roots/index.ts';
import { type FilesOptions, filesProvider } from '../providers/files/index.ts';
import { ConfigError } from './error.ts';
import type { Config } from './schema.ts';

/** @param base the directory that relative paths start from */
export async function mountsOf(mounts: Config['mounts'], base: string): Promise<Mount[]> {
  const opened: Mount[] = [];
  try {
    for (const [name, block] of Object.entries(mounts)) {
      opened.push(await mountOf(name, typeof block === 'string' ? { path: block } : block, base));
    }
    return opened;
  } catch (error) {
    await closeMounts(opened);
    throw error;
  }
}

type Block = Partial<Exclude<Config['mounts'][string], string>> & { readonly path: string };

async function mountOf(name: string, block: Block, base: string): Promise<Mount> {
  const { prefix, prompts: _prompts, roots, path, icons, ...options } = block;
  const source = resolve(base, path);
  if (roots === undefined)
    return { name, prefix, icons, provider: await filesProvider({ ...options, path: source, name }) };
  // Bounds are of names, so a name must not be a way to another place.
  const provider = await filesProvider({ ...options, symlinks: false, path: source, name });
  return { name, prefix, icons, provider: rootsLayer({ folder: await folderOf(source) })(provider) };
}

/** Canonical path of a folder, or of the one that a file lies in. */
async function folderOf(path: string): Promise<string> {
  const real = await realpath(path);
  return (await stat(real)).isDirectory() ? real : dirname(real);
}

/** What may be said of typed paths; a configuration says more. */
export type PathOptions = Pick<FilesOptions, 'hidden' | 'gitignore'>;

/** Mounts of paths as they are typed: one is published as it is, several under their names. */
export async function mountsOfPaths(paths: readonly string[], options: PathOptions = {}): Promise<Mount[]> {
  const opened: Mount[] = [];
  try {
    for (const path of paths) {
      const name = uniqueName(path, opened);
      const provider = await filesProvider({ ...options, path, name: basename(resolve(path)) || 'root' });
      opened.push({ name, provider, prefix: paths.length === 1 ? 'none' : 'name' });
    }
    return opened;
  } catch (error) {
    await closeMounts(opened);
    throw error;
  }
}

export async function closeMounts(mounts: readonly Mount[]): Promise<void> {
  await Promise.allSettled(mounts.map((mount) => mount.provider.close?.()));
}

/** A mount name out of the last part of a path, numbered when another path ended alike or the name is Vitrine's own. */
function uniqueName(path: string, taken: readonly Mount[]): string {
  const words = basename(resolve(path))
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/^[^a-z]+|[-.]+$/g, '')
    .slice(0, 40);
  const wanted = words === '' ? 'folder' : words;
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    const problem = mountNameProblem(name);
    if (problem !== undefined) throw new ConfigError(`${path}: ${problem}`);
    if (name !== STATE_MOUNT && !taken.some((mount) => mount.name === name)) return name;
  }
}
