/**
 * Gives access to the files of a repository, whose folder is not shown as files. Each file is opened only at its own path,
 * never through a link, so that nothing outside of the folder is read, even if somebody swaps files for links meanwhile.
 */
import { join } from 'node:path';
import { ResourceError } from '../../core/errors.ts';
import type { FindFolder, Inside, InsideEntry } from '../folder-place.ts';
import { faultOf, isAbsent } from './fault.ts';
import type { Folder } from './folder.ts';
import { isSamePath, type Opened, type OpenFor, openBeneath } from './open.ts';

/** The most names in one folder. */
const MAX_ENTRIES = 100_000;

export const foldersIn =
  (folder: Folder): FindFolder =>
  async (segments, has) => {
    const { visibility } = folder;
    // The rules may hide the name of the folder itself, such as `.git`, since its files are not shown as files.
    if (visibility.excludes(segments) || !(await visibility.shows(segments.slice(0, -1), true))) return undefined;
    const opened = await openedIn(folder, segments, 'metadata');
    await opened?.handle.close();
    if (!opened?.stat.isDirectory()) return undefined;
    for (const name of has) {
      const part = await openedIn(folder, [...segments, name], 'metadata');
      await part?.handle.close();
      if (part === undefined) return 'unfinished';
    }
    const { dev, ino } = opened.stat;
    return { file: `${dev}:${ino}`, path: join(folder.root, ...segments), inside: insideOf(folder, segments) };
  };

function insideOf(folder: Folder, segments: readonly string[]): Inside {
  return {
    async entries(path) {
      const opened = await openedIn(folder, [...segments, ...path], 'content');
      if (opened === undefined) return undefined;
      try {
        if (!opened.stat.isDirectory()) return undefined;
        const found: InsideEntry[] = [];
        for await (const batch of folder.disk.entries(opened.path)) {
          for (const entry of batch)
            found.push({ name: entry.name, kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other' });
          if (found.length > MAX_ENTRIES)
            throw new ResourceError('too-large', `A folder in it has more than ${MAX_ENTRIES} entries`);
        }
        return found;
      } finally {
        await opened.handle.close();
      }
    },
    async open(path) {
      const opened = await openedIn(folder, [...segments, ...path], 'content');
      if (opened === undefined) return undefined;
      const { handle, stat } = opened;
      if (stat.isFile())
        return {
          size: Number(stat.size),
          path: opened.path.replace(/^\/proc\/self\//, `/proc/${process.pid}/`),
          read: handle.read,
          close: handle.close,
        };
      await handle.close();
      return undefined;
    },
  };
}

/** Opens the file or directory at a path; undefined if there is none, or if the path leads through a link. */
async function openedIn(
  { root, disk }: Folder,
  segments: readonly string[],
  use: OpenFor,
): Promise<Opened | undefined> {
  try {
    const opened = await openBeneath(root, segments, use, '', disk);
    if (isSamePath(opened.segments, segments)) return opened;
    await opened.handle.close();
    return undefined;
  } catch (error) {
    const fault = faultOf(error, '');
    if (isAbsent(fault)) return undefined;
    throw fault;
  }
}
