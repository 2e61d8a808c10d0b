/**
 * Remembers sorted listings of directories while clients page through them: a million names are read and sorted once, so
 * that each page, early or late, costs the same. A first page always checks that the directory has not changed. Later pages
 * may use the listing of the first page for a while. A cursor is the name of an entry, so no entry is lost.
 */
import type { BigIntStats, Dirent } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { ResourceError } from '../../core/errors.ts';
import type { Disk } from './disk.ts';
import type { Opened } from './open.ts';
import { isSettled } from './settled.ts';
import { type Entry, type EntryKind, type SortedNames, sortNames } from './sorted-names.ts';
import type { NameFilter } from './visibility.ts';

/** The most bytes of names that are remembered, over all directories of a mount. */
const MAX_SNAPSHOT_BYTES = 64 * 1024 * 1024;

/** The most names of one directory; a directory with more is refused rather than cut short. */
export const MAX_DIRECTORY_ENTRIES = 5_000_000;

/** How long later pages may go on with a listing of a directory that has changed, in milliseconds. */
const CONTINUE_MS = 10_000;

interface Snapshot {
  readonly names: SortedNames;
  readonly stamp: string;
  /** The version of the filter that the names have passed. */
  readonly version: string;
  readonly takenAt: number;
  /** Whether the time stamp is so old that an equal stamp means an unchanged directory. */
  readonly settled: boolean;
}

export interface Snapshots {
  /** Returns the sorted names of an opened directory. @param continuing whether they are for a page after the first */
  take(
    directory: Opened,
    filter: NameFilter,
    continuing: boolean,
    uri: string,
    signal: AbortSignal,
  ): Promise<SortedNames>;
  /** Returns the remembered names if the directory is unchanged, else undefined. Reads nothing from the disk. */
  known(directory: Opened, filter: NameFilter): SortedNames | undefined;
  clear(): void;
}

export function createSnapshots(disk: Disk): Snapshots {
  const cache = new LRUCache<string, Snapshot>({
    maxSize: MAX_SNAPSHOT_BYTES,
    sizeCalculation: (snapshot) => snapshot.names.byteLength + 1_024,
  });
  /** Readings under way, so that simultaneous requests share one. */
  const pending = new Map<string, Promise<Snapshot>>();

  async function read(directory: Opened, filter: NameFilter, stamp: string, uri: string): Promise<Snapshot> {
    const takenAt = Date.now();
    const names = await sortNames(visibleEntries(disk, directory, filter, uri));
    const settled = isSettled(directory.stat, takenAt);
    return { names, stamp, version: versionOf(filter), takenAt, settled };
  }

  /** Returns the names of a snapshot if its directory has this stamp, so that it is unchanged. */
  const unchanged = (snapshot: Snapshot | undefined, stamp: string): SortedNames | undefined =>
    snapshot?.settled === true && snapshot.stamp === stamp ? snapshot.names : undefined;

  return {
    known(directory, filter) {
      return unchanged(cache.get(keyOf(directory)), stampOf(directory.stat, filter));
    },
    async take(directory, filter, continuing, uri, signal) {
      const key = keyOf(directory);
      const stamp = stampOf(directory.stat, filter);
      const remembered = cache.get(key);
      const names = unchanged(remembered, stamp);
      if (names !== undefined) return names;
      const recent = remembered !== undefined && Date.now() - remembered.takenAt < CONTINUE_MS;
      if (continuing && recent && remembered.version === versionOf(filter)) return remembered.names;
      const flight = `${key}\n${stamp}`;
      let reading = pending.get(flight);
      if (reading === undefined || !(continuing || isSettled(directory.stat))) {
        const fresh: Promise<Snapshot> = read(directory, filter, stamp, uri).finally(() => {
          if (pending.get(flight) === fresh) pending.delete(flight);
        });
        pending.set(flight, fresh);
        reading = fresh;
      }
      const snapshot = await reading;
      signal.throwIfAborted();
      cache.set(key, snapshot);
      return snapshot.names;
    },
    clear: () => cache.clear(),
  };
}

const versionOf = (filter: NameFilter): string => filter.version ?? '';

const stampOf = ({ dev, ino, mtimeNs, ctimeNs }: BigIntStats, filter: NameFilter): string =>
  `${dev}:${ino}:${mtimeNs}:${ctimeNs}:${versionOf(filter)}`;

const keyOf = ({ segments }: Opened): string => segments.join('/');

async function* visibleEntries(
  disk: Disk,
  directory: Opened,
  filter: NameFilter,
  uri: string,
): AsyncIterable<readonly Entry[]> {
  let count = 0;
  for await (const entries of disk.entries(directory.path)) {
    const visible: Entry[] = [];
    for (const entry of entries) {
      const kind = kindOf(entry);
      if (kind !== undefined && filter(entry.name, kind === 'd')) visible.push({ kind, name: entry.name });
    }
    count += visible.length;
    if (count > MAX_DIRECTORY_ENTRIES) {
      throw new ResourceError('too-large', `The directory has more than ${MAX_DIRECTORY_ENTRIES} entries`, { uri });
    }
    yield visible;
  }
}

function kindOf(entry: Dirent): EntryKind | undefined {
  if (entry.isFile()) return 'f';
  if (entry.isDirectory()) return 'd';
  return entry.isSymbolicLink() ? 'l' : undefined;
}
