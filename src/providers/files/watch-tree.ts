/** Tells when the set of listed resources changes: every directory of the tree is watched, breadth first, up to a limit. */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { treeUri } from '../../core/uri.ts';
import type { DirectoryEvent, DirectoryWatches } from './directory-watches.ts';
import { type Folder, findSegments, SCHEME } from './folder.ts';

/** Directories that are watched for the default list, which shows at most as many entries. */
export const MAX_WATCHED_DIRECTORIES = 1_000;

export async function watchTree(
  folder: Folder,
  directories: DirectoryWatches,
  maxDirectories: number,
  onChange: (event: ChangeEvent) => void,
  ctx: Context,
): Promise<AsyncDisposable> {
  const watched = new Map<string, AsyncDisposable>();
  let ended = false;
  let work = Promise.resolve();

  const onEvent = (segments: readonly string[], event: DirectoryEvent): void => {
    if (!event.structural || ended) return;
    work = work
      .then(async () => {
        if (await matters(folder, segments, event.name)) onChange({ kind: 'list-changed' });
        await sync([segments]);
      })
      .catch((error: unknown) => ctx.log.warn('changes of the list may go unnoticed', { error }));
  };

  /** Watches directories that are new below these, and forgets what is gone. */
  async function sync(start: readonly (readonly string[])[]): Promise<void> {
    const queue = [...start];
    for (let segments = queue.shift(); segments !== undefined && !ended; segments = queue.shift()) {
      const here = segments;
      const key = here.join('/');
      if (!watched.has(key)) {
        if (watched.size >= maxDirectories) {
          ctx.log.info('the default list is watched in part', { directories: maxDirectories });
          return;
        }
        watched.set(key, await directories.watch(here, (event) => onEvent(here, event)));
      }
      const present = await subdirectories(folder, here, maxDirectories, ctx);
      await forget(here, new Set(present));
      for (const name of present) {
        if (!watched.has([...here, name].join('/'))) queue.push([...here, name]);
      }
    }
  }

  async function forget(parent: readonly string[], present: ReadonlySet<string>): Promise<void> {
    const prefix = parent.map((name) => `${name}/`).join('');
    for (const [key, handle] of [...watched]) {
      if (key === '' || !key.startsWith(prefix) || key === parent.join('/')) continue;
      const child = key.slice(prefix.length).split('/', 1)[0] ?? '';
      if (present.has(child)) continue;
      watched.delete(key);
      await handle[Symbol.asyncDispose]();
    }
  }

  const dispose = async (): Promise<void> => {
    ended = true;
    await work;
    await Promise.all([...watched.values()].map((handle) => handle[Symbol.asyncDispose]()));
    watched.clear();
  };

  try {
    await sync([[]]);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { [Symbol.asyncDispose]: dispose };
}

async function matters(folder: Folder, directory: readonly string[], name: string | undefined): Promise<boolean> {
  if (name === undefined) return true;
  const path = [...directory, name];
  return (await folder.visibility.shows(path, false)) || folder.visibility.shows(path, true);
}

/** Names of the real, shown directories in one; none when it is gone. Links are not followed: a change behind one shows there. */
async function subdirectories(
  folder: Folder,
  segments: readonly string[],
  limit: number,
  ctx: Context,
): Promise<readonly string[]> {
  try {
    await using found = await findSegments(folder, segments, 'content', treeUri(SCHEME, segments));
    if (!found.isDirectory) return [];
    const filter = await folder.visibility.filterIn(found.opened.segments);
    const names = await folder.snapshots.take(found.opened, filter, false, found.resource.uri, ctx.signal);
    return Array.from({ length: Math.min(limit, names.directories) }, (_, index) => names.at(index).name);
  } catch (error) {
    if (error instanceof ResourceError) return [];
    throw error;
  }
}
