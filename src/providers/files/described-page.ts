/** Describes the entries of a directory page: checks each entry, and leaves out those that cannot be served. */
import type { BigIntStats } from 'node:fs';
import { ResourceError } from '../../core/errors.ts';
import { keep } from '../../core/kept.ts';
import type { ResourcePage } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import { faultOf } from './fault.ts';
import { type Folder, type Found, findSegments, isDirect, resourceOf } from './folder.ts';
import type { Looking } from './kept-pages.ts';
import { isSettled } from './settled.ts';
import type { Entry, SortedNames } from './sorted-names.ts';
import type { NameFilter } from './visibility.ts';

/** The most entries whose metadata is requested concurrently. */
const CONCURRENCY = 16;

/** The requested part of a directory. */
export interface Part {
  /** The entry before the part; undefined for the first part. */
  readonly position: Entry | undefined;
  readonly limit: number;
  readonly uri: string;
  readonly signal: AbortSignal;
}

type Soon<T> = T | Promise<T>;

/**
 * Returns a page of resources.
 * @param filter the filter of the directory, which its names have passed
 * @param looking collects what is seen of the entries, if the page is to be kept
 */
export async function describedPage(
  folder: Folder,
  directory: Found,
  names: SortedNames,
  filter: NameFilter,
  { position, limit, signal }: Part,
  looking?: Looking,
): Promise<ResourcePage> {
  // The names were filtered for the directory's real path. Through a link, they must also be shown under the link's path.
  const direct = isDirect(directory);
  const shown = direct ? filter : await folder.visibility.filterIn(directory.segments);
  const describe = describer(folder, directory, shown, direct, looking);
  const resources: Resource[] = [];
  let index = position === undefined ? 0 : names.after(position);
  // Entries that cannot be served are replaced by later ones, at most three times. After that, the page stays short.
  for (let rounds = 0; index < names.length && resources.length < limit && rounds < 4; rounds++) {
    const batch: Entry[] = [];
    while (index < names.length && batch.length < limit - resources.length) batch.push(names.at(index++));
    const described = await mapConcurrently(batch, describe, signal);
    resources.push(...described.filter((resource) => resource !== undefined));
  }
  const last = index > 0 ? names.at(index - 1) : undefined;
  const more = index < names.length && last !== undefined;
  return { resources, nextCursor: more ? `${last.kind}${last.name}` : undefined };
}

/**
 * Makes the function that returns the resource of an entry; undefined when it has vanished, is hidden, or cannot be served.
 * @param filtered whether the filter has accepted the entries, with the types they had when the names were read
 */
function describer(
  folder: Folder,
  directory: Found,
  shown: NameFilter,
  filtered: boolean,
  looking: Looking | undefined,
): (entry: Entry) => Soon<Resource | undefined> {
  const { segments, opened } = directory;

  function described({ name, kind }: Entry, stats: BigIntStats): Soon<Resource | undefined> {
    const isDirectory = stats.isDirectory();
    const accepted = filtered && isDirectory === (kind === 'd') && (isDirectory || stats.isFile());
    if (looking !== undefined && accepted) return noted(looking, name, stats, isDirectory);
    unsettled();
    if (stats.isSymbolicLink()) return target(name);
    if (!isDirectory && !stats.isFile()) return undefined;
    if (!accepted && !shown(name, isDirectory)) return undefined;
    return resourceOf(folder, [...segments, name], stats, [...opened.segments, name]);
  }

  /** Returns the resource and notes it in the look: the same object as in the previous look, if nothing has changed. */
  function noted(look: Looking, name: string, stats: BigIntStats, isDirectory: boolean): Resource {
    const { size, mtimeMs } = stats;
    const before = look.before.get(name);
    const same = before?.isDirectory === isDirectory && before.size === size && before.mtimeMs === mtimeMs;
    const entry = same
      ? before
      : {
          resource: keep(resourceOf(folder, [...segments, name], stats, [...opened.segments, name])),
          isDirectory,
          size,
          mtimeMs,
        };
    look.entries.set(name, entry);
    if (!isSettled(stats)) look.settled = false;
    return entry.resource;
  }

  async function target(name: string): Promise<Resource> {
    await using found = await findSegments(folder, [...segments, name], 'metadata', '');
    return found.resource;
  }

  function unsettled(): void {
    if (looking !== undefined) looking.settled = false;
  }

  function failed(error: unknown): undefined {
    unsettled();
    const fault = faultOf(error, '');
    if (fault instanceof ResourceError && fault.code !== 'internal' && fault.code !== 'unavailable') return undefined;
    throw fault;
  }

  return (entry) => {
    try {
      const stats = folder.disk.lstat(`${opened.path}/${entry.name}`);
      const resource =
        stats instanceof Promise ? stats.then((read) => described(entry, read)) : described(entry, stats);
      return resource instanceof Promise ? resource.catch(failed) : resource;
    } catch (error) {
      return failed(error);
    }
  };
}

/** Maps the items, at most `CONCURRENCY` at a time. Waits only if a result is a promise. */
async function mapConcurrently<T, R>(
  items: readonly T[],
  map: (item: T) => Soon<R>,
  signal: AbortSignal,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += CONCURRENCY) {
    signal.throwIfAborted();
    const batch = items.slice(at, at + CONCURRENCY).map(map);
    const isReady = (result: Soon<R>): result is R => !(result instanceof Promise);
    results.push(...(batch.every(isReady) ? batch : await Promise.all(batch)));
  }
  return results;
}
