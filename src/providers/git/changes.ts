/** Compares two commits, as a list of changed files or as a diff. */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { uriOf } from './address.ts';
import { collectGit, recordsOf, runGit } from './command.ts';
import type { Repository, Target } from './find.ts';
import { pathspec } from './history.ts';

export interface ChangedFile {
  readonly change: 'added' | 'changed' | 'deleted' | 'type changed';
  /** The path as bytes, one character per byte. */
  readonly path: string;
}

/** Options that keep the configuration of the repository from deciding how a diff is made. */
const SAFE = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--ignore-submodules=none'];

/** Returns the two sides as arguments of git. Without a base, the commit is compared with an empty tree. */
const sides = (base: Target | undefined, target: Target): string[] =>
  base === undefined
    ? ['--root', '--no-commit-id', '--end-of-options', target.commit?.oid ?? target.entry.oid]
    : ['--end-of-options', base.entry.oid, target.entry.oid];

/** Returns the changed files by path, at most `limit` of them, and whether there are more. */
export async function changedFiles(
  { git }: Repository,
  base: Target | undefined,
  target: Target,
  limit: number,
  ctx: Context,
  path: readonly string[] = [],
): Promise<{ readonly files: readonly ChangedFile[]; readonly more: boolean }> {
  const args = ['diff-tree', '-r', '-z', '--name-status', ...SAFE, ...sides(base, target), '--', ...pathspec(path)];
  const files: ChangedFile[] = [];
  let status: string | undefined;
  for await (const record of recordsOf(runGit(git, args, { signal: ctx.signal }), '\0')) {
    if (status === undefined) {
      status = record;
      continue;
    }
    if (files.length >= limit) return { files, more: true };
    files.push({ change: CHANGES[status] ?? 'changed', path: record });
    status = undefined;
  }
  return { files, more: false };
}

const CHANGES: Readonly<Record<string, ChangedFile['change']>> = {
  A: 'added',
  D: 'deleted',
  M: 'changed',
  T: 'type changed',
};

/** The most paths that git gets for one diff. If the caller may not read some files, git gets the path of each of the others. */
const MAX_NAMED = 1_000;

/**
 * Returns the diff of a path, or of everything, without the files that the caller may not read.
 * @throws ResourceError `too-large`
 */
export async function diffBetween(
  repo: Repository,
  base: Target | undefined,
  target: Target,
  path: readonly string[],
  ctx: Context,
): Promise<Buffer> {
  const { git, maxOutputBytes } = repo;
  const paths = ctx.may === undefined ? pathspec(path) : await seenPaths(repo, base, target, path, ctx);
  if (paths === undefined) return Buffer.alloc(0);
  const args = ['diff-tree', '-r', '--patch', '--full-index', ...SAFE, ...sides(base, target), '--', ...paths];
  return collectGit(git, args, { signal: ctx.signal, maxBytes: maxOutputBytes });
}

/** Returns the paths that git gets for the diff of a path; undefined if the caller may read none of its files. */
async function seenPaths(
  repo: Repository,
  base: Target | undefined,
  target: Target,
  path: readonly string[],
  ctx: Context,
): Promise<readonly string[] | undefined> {
  const { files, more } = await changedFiles(repo, base, target, MAX_NAMED, ctx, path);
  const seen = await seenFiles(files, base, target, ctx);
  if (seen.length === files.length && !more) return pathspec(path);
  if (more)
    throw new ResourceError('too-large', `More than ${MAX_NAMED} files were changed; ask for the changes of a folder`);
  // For git, a path also means everything below it. So git cannot compare only a file that a folder has replaced.
  const kept = new Set(seen);
  const unseen = files.filter((file) => !kept.has(file));
  const named = seen.filter((file) => !unseen.some((other) => other.path.startsWith(`${file.path}/`)));
  return named.length === 0 ? undefined : named.flatMap((file) => pathspec(file.path.split('/')));
}

/** Returns the files that the caller may read at both revisions, or at the only one that has the file. */
export async function seenFiles(
  files: readonly ChangedFile[],
  base: Target | undefined,
  target: Target,
  { may }: Context,
): Promise<readonly ChangedFile[]> {
  if (may === undefined) return files;
  const mayRead = async (side: Target | undefined, path: string): Promise<boolean> => {
    const oid = side?.commit?.oid;
    if (oid === undefined) return false;
    return may('read', uriOf({ kind: 'tree', revision: { kind: 'commit', oid }, path: path.split('/') }));
  };
  const seen: ChangedFile[] = [];
  for (const file of files) {
    if (file.change !== 'added' && !(await mayRead(base, file.path))) continue;
    if (file.change !== 'deleted' && !(await mayRead(target, file.path))) continue;
    seen.push(file);
  }
  return seen;
}
