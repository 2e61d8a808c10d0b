/** The kind `git`: a bare repository by its path, any repository by the key. */
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { GitConfig } from '../../providers/git/config.ts';
import type { MountKind } from './kind.ts';

/** A folder with a worktree counts as a folder; its `.git` is the repository. */
export const gitKind: MountKind<GitConfig> = {
  key: 'git',
  async recognises(source, base) {
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(source)) return false;
    const path = resolve(base, source);
    if (!(await stat(path).catch(() => undefined))?.isDirectory()) return false;
    const { isGitDirectory } = await import('../../providers/git/repository.ts');
    return /\.git[/\\]*$/i.test(source) || isGitDirectory(path);
  },
  nameOf(source) {
    const path = resolve(source);
    return basename(basename(path) === '.git' ? dirname(path) : path).replace(/\.git$/i, '');
  },
  async open(name, { git, ...options }, { base }) {
    const { gitProvider } = await import('../../providers/git/index.ts');
    return gitProvider({ ...options, path: resolve(base, git), name });
  },
};
