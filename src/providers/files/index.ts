/**
 * Serves a folder of this machine: `file:///guide/intro.md` is `guide/intro.md` below the folder. Lists, reads in windows,
 * searches, watches, and completes paths. Clients never learn where the folder lies.
 *
 * @example
 * const docs = await filesProvider({ path: './docs' });
 */
import { access, constants, realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { withAgain } from '../../core/again.ts';
import { createContext, type Log, SILENT } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { FindFolder } from '../folder-place.ts';
import { againIn } from './again.ts';
import { type FilesOptions, filesConfig } from './config.ts';
import { createDirectoryWatches } from './directory-watches.ts';
import { diskOf } from './disk.ts';
import { systemCode } from './fault.ts';
import { type Folder, find, SCHEME } from './folder.ts';
import { foldersIn } from './inside.ts';
import { createKeptPages } from './kept-pages.ts';
import { listDirectory, listRoots } from './list.ts';
import { createListedWatches } from './listed-watches.ts';
import { type FindPlace, placesIn } from './place.ts';
import { readFileOrDirectory } from './read.ts';
import { searchFolder } from './search.ts';
import { createSnapshots } from './snapshots.ts';
import { completePath, listTemplates } from './templates.ts';
import { createVisibility } from './visibility.ts';
import { watchResource } from './watch.ts';
import { MAX_WATCHED_DIRECTORIES, watchTree } from './watch-tree.ts';

export { type FilesConfig, type FilesOptions, filesConfig } from './config.ts';
export type { FilePlace, FindPlace } from './place.ts';
export { CREDENTIAL_GLOBS } from './visibility.ts';

/** A files provider, and access to its files for providers that look into them, such as archives. */
export interface Files {
  readonly provider: ResourceProvider;
  readonly place: FindPlace;
  readonly folder: FindFolder;
  /** Whether the rules show a file or directory at this path, judging by its name and the names on the way to it. */
  readonly shows: (segments: readonly string[], isDirectory: boolean) => Promise<boolean>;
}

/**
 * Makes a provider of the files below a folder, or of one file.
 * @throws ResourceError `invalid` when there is no such folder or file, or it cannot be read. The message names the path as
 *   it was given, since only the person who starts the server sees it.
 */
export const filesProvider = async (options: FilesOptions): Promise<ResourceProvider> =>
  (await openFiles(options)).provider;

/** Like `filesProvider`, with access to the files for providers that look into them. @throws ResourceError likewise */
export async function openFiles(options: FilesOptions): Promise<Files> {
  const { path, name, maxWatchedDirectories = MAX_WATCHED_DIRECTORIES, ...rest } = options;
  const { root, only, defaultName } = await locate(path);
  const rules = filesConfig.omit({ path: true }).parse(rest);
  let log: Log = SILENT;
  const kept = createKeptPages();
  const directories = createDirectoryWatches(
    root,
    () => log,
    (segments) => kept.changed(segments.join('/')),
  );
  const onFailure = (error: unknown): void => log.debug('a directory that is listed often is not watched', { error });
  const listedWatches = rules.watch ? createListedWatches(directories, onFailure) : undefined;
  const disk = diskOf(root);
  const folder: Folder = {
    root,
    name: name ?? defaultName,
    disk,
    device: (await stat(root, { bigint: true })).dev,
    symlinks: rules.symlinks,
    watchable: rules.watch,
    visibility: createVisibility(root, rules, only),
    snapshots: createSnapshots(disk),
    kept,
    listed: (segments) => listedWatches?.listed(segments),
  };

  const provider: ResourceProvider = {
    name: folder.name,
    features: {
      schemes: [SCHEME],
      watch: rules.watch,
      watchesInside: rules.watch,
      templates: true,
      completion: true,
      search: true,
      ranges: true,
    },
    list: (uri, page, ctx) => (uri === undefined ? listRoots(folder, page) : listDirectory(folder, uri, page, ctx)),
    async metadata(uri) {
      await using found = await find(folder, uri, 'metadata');
      return found.resource;
    },
    read: (uri, want, ctx) => readFileOrDirectory(folder, uri, want, ctx),
    listTemplates: async () => listTemplates(folder),
    complete: (request, ctx) => completePath(folder, request, ctx),
    search: (query, ctx) => searchFolder(folder, { hidden: rules.hidden, only }, query, ctx),
    ...(rules.watch && {
      watch: (uri, onChange, ctx = createContext()) => {
        log = ctx.log;
        return uri === undefined
          ? watchTree(folder, directories, maxWatchedDirectories, onChange, ctx)
          : watchResource(folder, directories, uri, onChange, ctx);
      },
    }),
    async close() {
      await listedWatches?.close();
      await directories.close();
      folder.snapshots.clear();
      kept.clear();
    },
  };
  return {
    provider: withAgain(provider, againIn(folder)),
    place: placesIn(folder),
    folder: foldersIn(folder),
    shows: folder.visibility.shows,
  };
}

/** Finds the canonical folder to serve. For a path of a file, that is its folder, and `only` names the file to show. */
async function locate(path: string): Promise<{ root: string; only?: string; defaultName: string }> {
  try {
    const real = await realpath(path);
    const stats = await stat(real);
    await access(real, stats.isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK);
    if (stats.isDirectory()) return { root: real, defaultName: basename(real) || 'root' };
    if (stats.isFile()) {
      const root = dirname(real);
      return { root, only: basename(real), defaultName: basename(root) || 'root' };
    }
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EACCES' || code === 'EPERM')
      throw invalid(`${path} may not be read; give this user the right to, or serve another folder`);
    if (code === 'ENOENT' || code === 'ENOTDIR') throw invalid(`There is no file or folder at ${path}`);
    throw new ResourceError('invalid', `${path} cannot be served`, { cause: error });
  }
  throw invalid(`${path} is neither a folder nor a file`);
}
