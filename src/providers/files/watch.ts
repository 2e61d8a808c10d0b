/** Reports changes of one resource, judging by events on directories (RES-4). */

import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { parseTreeUri, treeUri } from '../../core/uri.ts';
import { type DirectoryEvent, type DirectoryWatches, RETRY_MS } from './directory-watches.ts';
import { faultOf, isNotThere } from './fault.ts';
import { type Folder, findSegments, SCHEME } from './folder.ts';
import { wayOf } from './links.ts';

type OnChange = (event: ChangeEvent) => void;

/** How often one event places watches at most, if the path keeps moving. After that, the next event on the path places them. */
const MAX_ROUNDS = 5;

/**
 * Watches one URI. For a file, it reports that the content has changed, or that the file was created, deleted or replaced. For a
 * directory, it reports that the set of children has changed. With `inside` in the context, it also reports each name in the
 * directory that has changed, even one that is not shown. A path that does not exist yet can be watched if the rules would show it.
 * @throws ResourceError `not-found` for a path that the rules hide, `limited` if the system has no more file watches
 */
export async function watchResource(
  folder: Folder,
  directories: DirectoryWatches,
  uri: string,
  onChange: OnChange,
  ctx: Context,
): Promise<AsyncDisposable> {
  const { segments } = parseTreeUri(uri, SCHEME);
  if (!(await mayBeShown(folder, segments))) throw notFound(uri);
  const changed = (): void => onChange({ kind: 'updated', uri });

  let handles: AsyncDisposable[] = [];
  /** The watched places, as JSON. */
  let watched = '';
  let ended = false;
  let following = Promise.resolve();
  let waiting = false;
  let hasFailed = false;
  let retry: NodeJS.Timeout | undefined;

  /** Watches the name at the end of the path, each link on the way to it, and the children of a directory. */
  async function follow(): Promise<void> {
    waiting = false;
    const before = watched;
    await moveWatches();
    // Between the move and the new watches, a change at the new place would go unnoticed, so a move counts as a change.
    if (before !== '' && before !== watched && !ended) changed();
  }
  async function moveWatches(): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS && !ended; round++) {
      const places = await placesOf(folder, segments, uri);
      const key = JSON.stringify(places);
      // If the places are still the same after the watches were placed, nothing has moved meanwhile.
      if (key === watched) return;
      const opened = await openAll(places.map((place) => () => directories.watch(place.directory, onEvent(place))));
      const old = handles;
      handles = opened;
      watched = key;
      await endAll(old);
    }
  }
  const onEvent =
    ({ name }: Place) =>
    (event: DirectoryEvent): void => {
      if (!ended && name === undefined && ctx.inside === true) tellInside(event);
      if (ended || (name === undefined ? !event.structural : !concerns(event, name))) return;
      if (event.structural) refollow();
      changed();
    };
  function tellInside({ name, structural }: DirectoryEvent): void {
    if (name !== undefined) onChange({ kind: 'updated', uri: treeUri(SCHEME, [...segments, name]) });
    // Any name in the directory may have changed.
    else if (!structural) changed();
  }
  const refollow = (): void => {
    if (waiting) return;
    waiting = true;
    following = following.then(follow).then(
      () => {
        hasFailed = false;
      },
      (error: unknown) => {
        // Only the first of several failures in a row is logged.
        if (!hasFailed) ctx.log.warn('a change may go unnoticed', { uri, error });
        hasFailed = true;
        clearTimeout(retry);
        if (!ended) retry = setTimeout(refollow, RETRY_MS).unref();
      },
    );
  };
  const dispose = async (): Promise<void> => {
    ended = true;
    clearTimeout(retry);
    await following.catch(() => {});
    await endAll(handles.splice(0));
  };

  try {
    following = follow();
    await following;
  } catch (error) {
    await dispose();
    throw faultOf(error, uri);
  }
  return { [Symbol.asyncDispose]: dispose };
}

const concerns = (event: DirectoryEvent, name: string): boolean => event.name === undefined || event.name === name;

/** A directory to watch for one name in it, or for its set of children. */
interface Place {
  readonly directory: readonly string[];
  readonly name?: string;
}

async function placesOf(folder: Folder, segments: readonly string[], uri: string): Promise<Place[]> {
  const { links, end } = await wayOf(folder.root, segments);
  const names: (readonly string[])[] = [];
  for (const path of end === undefined ? links : [...links, end]) {
    if (await mayBeShown(folder, path)) names.push(path);
  }
  const places = names.flatMap((path): Place[] => {
    const name = path.at(-1);
    return name === undefined ? [] : [{ directory: path.slice(0, -1), name }];
  });
  const inside = await directoryAt(folder, segments, uri);
  return inside === undefined ? places : [...places, { directory: inside }];
}

const mayBeShown = async (folder: Folder, segments: readonly string[]): Promise<boolean> =>
  (await folder.visibility.shows(segments, false)) || folder.visibility.shows(segments, true);

/** Returns the real path of a directory; undefined if it is missing, hidden, or a file. */
async function directoryAt(
  folder: Folder,
  segments: readonly string[],
  uri: string,
): Promise<readonly string[] | undefined> {
  try {
    await using found = await findSegments(folder, segments, 'metadata', uri);
    return found.isDirectory ? found.opened.segments : undefined;
  } catch (error) {
    if (isNotThere(error)) return undefined;
    throw error;
  }
}

/** Opens all watches. If one fails, ends the others, and throws. */
async function openAll(opens: readonly (() => Promise<AsyncDisposable>)[]): Promise<AsyncDisposable[]> {
  const settled = await Promise.allSettled(opens.map((open) => open()));
  const handles = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed === undefined) return handles;
  await endAll(handles);
  throw failed.reason;
}

async function endAll(handles: readonly AsyncDisposable[]): Promise<void> {
  await Promise.all(handles.map((handle) => handle[Symbol.asyncDispose]()));
}
