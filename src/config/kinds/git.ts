/** The kind `git`: git repositories. A path is enough to mount a bare one; the key mounts any. */
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { GitConfig } from '../../providers/git/config.ts';
import type { MountKind } from './kind.ts';

/** The path of a folder with a worktree mounts the folder; the path of its `.git` mounts the repository. */
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
