/** What is different between two commits: as a list of files, and as a diff. */
import type { Context } from '../../core/context.ts';
import { collectGit, recordsOf, runGit } from './command.ts';
import type { Repository, Target } from './find.ts';
import { pathspec } from './history.ts';

export interface ChangedFile {
  readonly change: 'added' | 'changed' | 'deleted' | 'type changed';
  /** One character a byte. */
  readonly path: string;
}

/** Nothing of the repository says how a diff is made. */
const SAFE = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--ignore-submodules=none'];

/** The two sides as git wants them: a commit without a parent is compared with nothing. */
const sides = (base: Target | undefined, target: Target): string[] =>
  base === undefined
    ? ['--root', '--no-commit-id', '--end-of-options', target.commit?.oid ?? target.entry.oid]
    : ['--end-of-options', base.entry.oid, target.entry.oid];

/** Files that were changed, in the order of their paths, at most so many, and whether there are more. */
export async function changedFiles(
  { git }: Repository,
  base: Target | undefined,
  target: Target,
  limit: number,
  ctx: Context,
): Promise<{ readonly files: readonly ChangedFile[]; readonly more: boolean }> {
  const args = ['diff-tree', '-r', '-z', '--name-status', ...SAFE, ...sides(base, target), '--'];
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

/** The diff of a path, or of everything. @throws ResourceError `too-large` */
export function diffBetween(
  { git, maxOutputBytes }: Repository,
  base: Target | undefined,
  target: Target,
  path: readonly string[],
  ctx: Context,
): Promise<Buffer> {
  const args = ['diff-tree', '-r', '--patch', '--full-index', ...SAFE, ...sides(base, target), '--', ...pathspec(path)];
  return collectGit(git, args, { signal: ctx.signal, maxBytes: maxOutputBytes });
}
