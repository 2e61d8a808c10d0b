/** Reports changes of the default list. Watches every directory of the tree, breadth first, up to a limit. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { treeUri } from '../../core/uri.ts';
import { type DirectoryEvent, type DirectoryWatches, RETRY_MS } from './directory-watches.ts';
import { isNotThere } from './fault.ts';
import { type Folder, findSegments, SCHEME } from './folder.ts';

/** The most directories that are watched for the default list. By default, that list has at most as many entries. */
export const MAX_WATCHED_DIRECTORIES = 1_000;

/** Milliseconds between two looks at the changes, while changes keep coming. */
const LOOK_EVERY_MS = 10;

/** The most changed names of one directory that are kept until the next look. If there are more, any name counts as changed. */
const MAX_UNSEEN_NAMES = 256;

/** A directory, and the changed names in it; `undefined` among them stands for any name. */
interface Changed {
  readonly segments: readonly string[];
  readonly names: Set<string | undefined>;
}

export async function watchTree(
  folder: Folder,
  directories: DirectoryWatches,
  maxDirectories: number,
  onChange: (event: ChangeEvent) => void,
  ctx: Context,
): Promise<AsyncDisposable> {
  const watched = new Map<string, AsyncDisposable>();
  let isReady = false;
  /** The signal of the caller, who can abort only the opening of the watch. */
  let opening = ctx.signal;
  let ended = false;
  let isInPart = false;
  let work = Promise.resolve();

  /** The directories with changes that no look has seen yet: many events in one directory cause only one look. */
  const unseen = new Map<string, Changed>();
  let looking = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  /** The directories that could not be read, or whose children could not be watched. All are tried again together. */
  const failed = new Map<string, Changed>();
  let hasWarned = false;
  let retry: NodeJS.Timeout | undefined;

  const onEvent = (segments: readonly string[], event: DirectoryEvent): void => {
    const rules = event.name !== undefined && event.name === folder.visibility.ruleFile;
    if (event.structural || rules) lookSoon({ segments, names: new Set([event.name]) });
  };

  function lookSoon({ segments, names }: Changed): void {
    if (ended) return;
    const key = segments.join('/');
    const all = unseen.get(key)?.names ?? new Set<string | undefined>();
    for (const name of names) all.add(all.size < MAX_UNSEEN_NAMES ? name : undefined);
    unseen.set(key, { segments, names: all });
    if (looking) return;
    looking = true;
    work = work.then(gather).then(look);
  }

  function lookLater(changed: Changed, error: unknown): void {
    if (ended) return;
    // Only the first of several failures in a row is logged.
    if (!hasWarned) ctx.log.warn('changes of the list may go unnoticed', { error });
    hasWarned = true;
    const key = changed.segments.join('/');
    failed.set(key, { ...changed, names: new Set([...(failed.get(key)?.names ?? []), ...changed.names]) });
    retry ??= setTimeout(() => {
      retry = undefined;
      const again = [...failed.values()];
      failed.clear();
      again.forEach(lookSoon);
    }, RETRY_MS).unref();
  }

  /** Waits, so that all events of one turn share one look, and many events cause at most one look per `LOOK_EVERY_MS`. */
  async function gather(): Promise<void> {
    await (performance.now() - lookedAt < LOOK_EVERY_MS ? sleep(LOOK_EVERY_MS) : setImmediate());
  }

  async function look(): Promise<void> {
    for (const [key, changed] of unseen) {
      unseen.delete(key);
      // The watch on a directory ends when a look at its parent finds that the directory is gone.
      if (!watched.has(key)) continue;
      try {
        if (await someMatter(folder, changed)) onChange({ kind: 'list-changed' });
        // Before a new directory is watched, names may come and go in it unnoticed, so a new watch counts as a change.
        if (await sync([changed.segments])) onChange({ kind: 'list-changed' });
      } catch (error) {
        lookLater(changed, error);
      }
    }
    if (failed.size === 0) hasWarned = false;
    lookedAt = performance.now();
    looking = false;
  }

  /** Watches new directories in and below these, and ends the watches on missing ones. Returns whether any directory was new. */
  async function sync(start: readonly (readonly string[])[]): Promise<boolean> {
    const queue = [...start];
    let grew = false;
    for (let segments = queue.shift(); segments !== undefined && !ended; segments = queue.shift()) {
      const here = segments;
      const key = here.join('/');
      opening.throwIfAborted();
      if (!watched.has(key)) {
        if (watched.size >= maxDirectories) {
          if (!isInPart) ctx.log.info('the default list is watched in part', { directories: maxDirectories });
          isInPart = true;
          return grew;
        }
        try {
          watched.set(key, await directories.watch(here, (event) => onEvent(here, event)));
        } catch (error) {
          if (!isReady) throw error;
          // A look at a parent finds its children that are not watched yet.
          for (const path of [here, ...queue]) lookLater({ segments: path.slice(0, -1), names: new Set() }, error);
          return grew;
        }
        grew = true;
      }
      try {
        const present = await subdirectories(folder, here, maxDirectories, opening);
        await forget(here, new Set(present));
        for (const name of present) {
          if (!watched.has([...here, name].join('/'))) queue.push([...here, name]);
        }
      } catch (error) {
        opening.throwIfAborted();
        lookLater({ segments: here, names: new Set() }, error);
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
    clearTimeout(retry);
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
    isReady = true;
    opening = new AbortController().signal;
  } catch (error) {
    await dispose();
    throw error;
  }
  return { [Symbol.asyncDispose]: dispose };
}

/** Whether changes of these names may change the list: one of them can be shown, is unknown, or is the file of the rules. */
async function someMatter(folder: Folder, { segments, names }: Changed): Promise<boolean> {
  for (const name of names) {
    if (name === undefined || name === folder.visibility.ruleFile) return true;
    const path = [...segments, name];
    if ((await folder.visibility.shows(path, false)) || (await folder.visibility.shows(path, true))) return true;
  }
  return false;
}

/**
 * Returns the names of the shown directories in a directory, at most `limit`. There are none if it is missing, may not be read,
 * or is too large to be listed. Links to directories do not count: a change behind one is reported for its target.
 */
async function subdirectories(
  folder: Folder,
  segments: readonly string[],
  limit: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    await using found = await findSegments(folder, segments, 'content', treeUri(SCHEME, segments));
    if (!found.isDirectory) return [];
    const filter = await folder.visibility.filterIn(found.opened.segments);
    const names = await folder.snapshots.take(found.opened, filter, false, found.resource.uri, signal);
    return Array.from({ length: Math.min(limit, names.directories) }, (_, index) => names.at(index).name);
  } catch (error) {
    if (isNotThere(error) || (error instanceof ResourceError && error.code === 'too-large')) return [];
    throw error;
  }
}
