/** From configured or typed sources to mounts. */
import { basename, resolve } from 'node:path';
import { type Mount, mountNameProblem } from '../core/mounts.ts';
import { type FilesOptions, filesProvider } from '../providers/files/index.ts';
import { ConfigError } from './error.ts';
import type { Config } from './schema.ts';

/** @param base the directory that relative paths start from */
export async function mountsOf(mounts: Config['mounts'], base: string): Promise<Mount[]> {
  const opened: Mount[] = [];
  try {
    for (const [name, block] of Object.entries(mounts)) {
      const { prefix, path, ...options } = typeof block === 'string' ? { path: block, prefix: undefined } : block;
      const provider = await filesProvider({ ...options, path: resolve(base, path), name });
      opened.push({ name, provider, prefix });
    }
    return opened;
  } catch (error) {
    await closeMounts(opened);
    throw error;
  }
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

/** A mount name out of the last part of a path, numbered when another path ended alike. */
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
    if (!taken.some((mount) => mount.name === name)) return name;
  }
}
