/** Watches directories that are listed again and again, so that lists show a change within less than a second. */
import type { DirectoryWatches } from './directory-watches.ts';

/** The most directories that are watched because they are listed. Changes in others show after a second. */
export const MAX_LISTED_WATCHES = 64;

/** Milliseconds for which a directory is watched after it was last listed, and after which a failed watch is tried again. */
const IDLE_MS = 10_000;

export interface ListedWatches {
  /** Called with a directory that is listed again. Never throws: lists are right without a watch, too. */
  listed(segments: readonly string[]): void;
  /** The number of directories that are watched. */
  readonly size: number;
  /** Ends all watches, and begins no more. */
  close(): Promise<void>;
}

interface Watched {
  /** Undefined if the directory could not be watched. */
  readonly handle: Promise<AsyncDisposable | undefined>;
  listedAt: number;
  failed: boolean;
}

/** @param onFailure called when a directory cannot be watched */
export function createListedWatches(directories: DirectoryWatches, onFailure: (error: unknown) => void): ListedWatches {
  const watched = new Map<string, Watched>();
  /** The watches that are being ended because their directories were not listed. */
  const ending = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const end = async (key: string, { handle }: Watched): Promise<void> => {
    watched.delete(key);
    await (await handle)?.[Symbol.asyncDispose]();
  };

  function endIdle(): void {
    const now = performance.now();
    for (const [key, watch] of watched) {
      if (now - watch.listedAt < IDLE_MS) continue;
      const ended: Promise<void> = end(key, watch)
        .catch(onFailure)
        .finally(() => ending.delete(ended));
      ending.add(ended);
    }
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    listed(segments) {
      const key = segments.join('/');
      const existing = watched.get(key);
      if (existing !== undefined) {
        // A watch that failed is given up after a while, however often the directory is listed, and then tried again.
        if (!existing.failed) existing.listedAt = performance.now();
        return;
      }
      if (closed || watched.size >= MAX_LISTED_WATCHES) return;
      // The callback does nothing: `createDirectoryWatches` reports every event to the kept pages.
      const handle = directories
        .watch(segments, () => {})
        .catch((error: unknown) => {
          watch.failed = true;
          onFailure(error);
          return undefined;
        });
      const watch: Watched = { handle, listedAt: performance.now(), failed: false };
      watched.set(key, watch);
      timer ??= setInterval(endIdle, IDLE_MS / 2).unref();
    },
    get size() {
      return watched.size;
    },
    async close() {
      closed = true;
      clearInterval(timer);
      await Promise.all([...ending, ...[...watched].map(([key, watch]) => end(key, watch))]);
    },
  };
}
