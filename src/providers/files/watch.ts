/** Changes of one resource, and of the listed set, out of events on directories (RES-4). */

import type { Context } from '../../core/context.ts';
import { notFound, ResourceError } from '../../core/errors.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { parseTreeUri, treeUri } from '../../core/uri.ts';
import type { DirectoryEvent, DirectoryWatches } from './directory-watches.ts';
import { faultOf } from './fault.ts';
import { type Folder, findSegments, SCHEME } from './folder.ts';
import { wayOf } from './links.ts';

type OnChange = (event: ChangeEvent) => void;

/** A path that moves while it is followed is followed anew, this many times; its next event follows it again. */
const MAX_ROUNDS = 5;

/**
 * Watches one URI: a file for its content, its coming and going, also through editors that replace it; a directory for
 * its set of children and, with `inside` in the context, for each name in it, also one that is not shown. What does not exist
 * yet, but could be shown, may be watched.
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

  /** The watches that are in place, and where they lie. */
  let handles: AsyncDisposable[] = [];
  let watched = '';
  let ended = false;
  let following = Promise.resolve();
  let waiting = false;

  /** Watches the name where the path ends, each link on the way there, and the inside of a directory. */
  async function follow(): Promise<void> {
    waiting = false;
    const before = watched;
    await moveWatches();
    // Between a move and the watches on where it leads, nobody looked: something may have changed there, too.
    if (before !== '' && before !== watched && !ended) changed();
  }
  async function moveWatches(): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS && !ended; round++) {
      const places = await placesOf(folder, segments, uri);
      const key = JSON.stringify(places);
      // Only when nothing has moved while the watches were put in place are they in the right ones.
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
    // Anything in it may have changed.
    else if (!structural) changed();
  }
  const refollow = (): void => {
    if (waiting) return;
    waiting = true;
    following = following
      .then(follow)
      .catch((error: unknown) => ctx.log.warn('a change may go unnoticed', { uri, error }));
  };
  const dispose = async (): Promise<void> => {
    ended = true;
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

/** The directory in which a path ends, if it can be shown. */
async function directoryAt(
  folder: Folder,
  segments: readonly string[],
  uri: string,
): Promise<readonly string[] | undefined> {
  try {
    await using found = await findSegments(folder, segments, 'metadata', uri);
    return found.isDirectory ? found.opened.segments : undefined;
  } catch (error) {
    if (error instanceof ResourceError) return undefined;
    throw error;
  }
}

/** Opens all or none. */
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
