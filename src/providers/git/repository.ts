/**
 * Finds the folders of a repository on this machine. A repository cannot redirect Vitrine to another folder by itself: links are
 * refused, and a `.git` that is a file is followed only if the folder that it names points back to it.
 */
import { lstat, readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { invalid, ResourceError } from '../../core/errors.ts';

export interface Place {
  /** The canonical path of the folder with `HEAD`. */
  readonly gitDirectory: string;
  /** The canonical path of the folder with references and objects. */
  readonly commonDirectory: string;
  /** The folder's name, without `.git`. */
  readonly called: string;
}

/** The most bytes of a file such as `HEAD`. */
const MAX_POINTER_BYTES = 8_192;

/** Finds the repository at a path. @throws ResourceError `invalid` with the given path, for the operator of the server */
export async function locate(path: string): Promise<Place> {
  const real = await realpath(path).catch((cause: unknown) => {
    throw new ResourceError('invalid', `There is no repository at ${path}`, { cause });
  });
  if (await isGitDirectory(real)) return placeOf(real, real, path);
  const inside = join(real, '.git');
  const found = await lstat(inside).catch(() => undefined);
  if (found?.isDirectory() && (await isGitDirectory(inside))) return placeOf(inside, real, path);
  if (found?.isFile()) return linkedWorktree(inside, real, path);
  throw invalid(`${path} is not a git repository: it has no HEAD, objects and refs, and no .git folder with them`);
}

/** Whether a folder has what makes a git directory. */
export async function isGitDirectory(path: string): Promise<boolean> {
  const kinds = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => lstat(join(path, name)).catch(() => undefined)),
  );
  const [head, objects, refs] = kinds;
  return Boolean((head?.isFile() || head?.isSymbolicLink()) && objects !== undefined && refs !== undefined);
}

function placeOf(gitDirectory: string, folder: string, path: string): Promise<Place> {
  return assertWhole({ gitDirectory, commonDirectory: gitDirectory, called: nameOf(folder) }, path);
}

const nameOf = (folder: string): string => {
  const base = basename(folder);
  return (base === '.git' ? basename(dirname(folder)) : base.replace(/\.git$/i, '')) || 'repository';
};

async function assertWhole(place: Place, path: string): Promise<Place> {
  const elsewhere = await stat(join(place.commonDirectory, 'commondir')).catch(() => undefined);
  if (elsewhere !== undefined) throw invalid(`${path} is a part of another repository; serve that one`);
  for (const name of ['objects', 'refs']) {
    if (!(await lstat(join(place.commonDirectory, name))).isDirectory())
      throw invalid(`${path} has its ${name} elsewhere, by a link; serve the repository that they are in`);
  }
  return place;
}

/** Follows a `.git` that is a file, as `git worktree add` makes it, if the folder that it names points back to it. */
async function linkedWorktree(pointer: string, folder: string, path: string): Promise<Place> {
  const refused = invalid(
    `The .git of ${path} is a file that names another place, which does not name this one; serve that repository itself`,
  );
  const target = /^gitdir: (.+?)\r?\n?$/.exec((await readSmall(pointer)) ?? '')?.[1];
  if (target === undefined) throw refused;
  const gitDirectory = await realpath(resolve(folder, target)).catch(() => undefined);
  if (gitDirectory === undefined) throw refused;
  const back = (await readSmall(join(gitDirectory, 'gitdir')))?.trim();
  const common = (await readSmall(join(gitDirectory, 'commondir')))?.trim();
  if (back === undefined || common === undefined) throw refused;
  const named = await realpath(resolve(gitDirectory, back)).catch(() => undefined);
  if (named !== (await realpath(pointer))) throw refused;
  const commonDirectory = await realpath(resolve(gitDirectory, common)).catch(() => undefined);
  if (commonDirectory === undefined || dirname(dirname(gitDirectory)) !== commonDirectory) throw refused;
  return assertWhole({ gitDirectory, commonDirectory, called: nameOf(folder) }, path);
}

async function readSmall(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isFile() || stats.size > MAX_POINTER_BYTES) return undefined;
  return readFile(path, encoding);
}

/**
 * Returns the text of `HEAD`, one character per byte as all names of references: `ref: refs/heads/main`, or a hash; undefined if it
 * is missing, not a file, or too large.
 */
export async function readHead({ gitDirectory }: Place): Promise<string | undefined> {
  const path = join(gitDirectory, 'HEAD');
  const stats = await lstat(path).catch(() => undefined);
  // Old versions of git made `HEAD` a link to the file of the reference.
  if (stats?.isSymbolicLink()) {
    const target = await readlink(path, 'latin1');
    return target.startsWith('refs/') ? `ref: ${target}` : undefined;
  }
  return (await readSmall(path, 'latin1'))?.trim();
}

/**
 * Returns the file or link, such as `objects/info/alternates`, by which the repository uses objects from another folder;
 * undefined if all its objects are its own.
 */
export async function borrowing({ commonDirectory }: Place): Promise<string | undefined> {
  const objects = join(commonDirectory, 'objects');
  const linked = async (folder: string): Promise<string | undefined> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    return entries.find((entry) => entry.isSymbolicLink())?.name;
  };
  const top = await readdir(objects, { withFileTypes: true });
  const link = top.find((entry) => entry.isSymbolicLink());
  if (link !== undefined) return `the link objects/${link.name}`;
  for (const folder of top.filter((entry) => entry.isDirectory() && /^(?:[0-9a-f]{2}|pack)$/.test(entry.name))) {
    const name = await linked(join(objects, folder.name));
    if (name !== undefined) return `the link objects/${folder.name}/${name}`;
  }
  const alternates = await lstat(join(objects, 'info', 'alternates')).catch(() => undefined);
  return alternates !== undefined && alternates.size > 0 ? 'objects/info/alternates' : undefined;
}
