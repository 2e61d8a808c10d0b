/** Reports changes of the default list. Watches every directory of the tree, breadth first, up to a limit. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { treeUri } from '../../core/uri.ts';
import type { DirectoryEvent, DirectoryWatches } from './directory-watches.ts';
import { type Folder, findSegments, SCHEME } from './folder.ts';

/** The most directories that are watched for the default list, which has at most as many entries. */
export const MAX_WATCHED_DIRECTORIES = 1_000;

/** Milliseconds between two looks at the changes, while changes keep coming. */
const LOOK_EVERY_MS = 10;

/** The most changed names of one directory that are kept until the next look. With more, any name may have changed. */
const MAX_UNSEEN_NAMES = 256;

export async function watchTree(
  folder: Folder,
  directories: DirectoryWatches,
  maxDirectories: number,
  onChange: (event: ChangeEvent) => void,
  ctx: Context,
): Promise<AsyncDisposable> {
  const watched = new Map<string, AsyncDisposable>();
  let ended = false;
  let saidInPart = false;
  let work = Promise.resolve();

  /** The changed names that were not looked at yet, by directory: many events in one directory cause only one look. */
  const unseen = new Map<string, { readonly segments: readonly string[]; readonly names: Set<string | undefined> }>();
  let looking = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const onEvent = (segments: readonly string[], event: DirectoryEvent): void => {
    const rules = event.name !== undefined && event.name === folder.visibility.ruleFile;
    if (!(event.structural || rules) || ended) return;
    const key = segments.join('/');
    const { names } = unseen.get(key) ?? { names: new Set() };
    names.add(names.size < MAX_UNSEEN_NAMES ? event.name : undefined);
    unseen.set(key, { segments, names });
    if (looking) return;
    looking = true;
    work = work.then(gather).then(look);
  };

  /** Waits, so that all events of one turn share one look, and many events cause at most one look per `LOOK_EVERY_MS`. */
  async function gather(): Promise<void> {
    await (performance.now() - lookedAt < LOOK_EVERY_MS ? setTimeout(LOOK_EVERY_MS) : setImmediate());
  }

  async function look(): Promise<void> {
    for (const [key, { segments, names }] of unseen) {
      unseen.delete(key);
      try {
        if (await someMatter(folder, segments, names)) onChange({ kind: 'list-changed' });
        // Before a new directory is watched, names may come and go in it unnoticed, so a new watch counts as a change.
        if (await sync([segments])) onChange({ kind: 'list-changed' });
      } catch (error) {
        ctx.log.warn('changes of the list may go unnoticed', { error });
      }
    }
    lookedAt = performance.now();
    looking = false;
  }

  /** Watches the new directories below these, ends the watches on missing ones, and returns whether any was new. */
  async function sync(start: readonly (readonly string[])[]): Promise<boolean> {
    const queue = [...start];
    let grew = false;
    for (let segments = queue.shift(); segments !== undefined && !ended; segments = queue.shift()) {
      const here = segments;
      const key = here.join('/');
      if (!watched.has(key)) {
        if (watched.size >= maxDirectories) {
          if (!saidInPart) ctx.log.info('the default list is watched in part', { directories: maxDirectories });
          saidInPart = true;
          return grew;
        }
        watched.set(key, await directories.watch(here, (event) => onEvent(here, event)));
        grew = true;
      }
      const present = await subdirectories(folder, here, maxDirectories, ctx);
      await forget(here, new Set(present));
      for (const name of present) {
        if (!watched.has([...here, name].join('/'))) queue.push([...here, name]);
      }
    }
    return grew;
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

  const first = sync([[]]);
  work = first.then(
    () => {},
    () => {},
  );
  try {
    await first;
  } catch (error) {
    await dispose();
    throw error;
  }
  return { [Symbol.asyncDispose]: dispose };
}

/** Whether the list may have changed by these names: one of them can be shown, is unknown, or is the file of the rules. */
async function someMatter(
  folder: Folder,
  directory: readonly string[],
  names: ReadonlySet<string | undefined>,
): Promise<boolean> {
  for (const name of names) {
    if (name === undefined || name === folder.visibility.ruleFile) return true;
    const path = [...directory, name];
    if ((await folder.visibility.shows(path, false)) || (await folder.visibility.shows(path, true))) return true;
  }
  return false;
}

/**
 * Returns the names of the shown directories in a directory, at most `limit`; none if it does not exist. Links to directories
 * do not count: a change behind one is reported for its target.
 */
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
