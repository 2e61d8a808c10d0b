/** Watches on directories that are listed again and again, so that a change in one is seen before a second is over. */
import type { DirectoryWatches } from './directory-watches.ts';

/** Directories that are watched because they are listed; others are looked at again in time. */
export const MAX_LISTED_WATCHES = 64;

/** How long a directory is watched after it was last listed, in milliseconds. */
const IDLE_MS = 10_000;

export interface ListedWatches {
  /** A directory was listed that had been listed before. Never throws: a watch that cannot be had is missed by nobody. */
  listed(segments: readonly string[]): void;
  readonly size: number;
  /** Ends all watches, and begins no more. */
  close(): Promise<void>;
}

interface Watched {
  readonly handle: Promise<AsyncDisposable | undefined>;
  listedAt: number;
}

/** @param told of failures to watch */
export function createListedWatches(directories: DirectoryWatches, told: (error: unknown) => void): ListedWatches {
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const end = async (key: string, { handle }: Watched): Promise<void> => {
    watched.delete(key);
    await (await handle)?.[Symbol.asyncDispose]();
  };

  function endIdle(): void {
    const now = performance.now();
    for (const [key, each] of watched) if (now - each.listedAt >= IDLE_MS) end(key, each).catch(told);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    listed(segments) {
      const key = segments.join('/');
      const before = watched.get(key);
      if (before !== undefined) {
        before.listedAt = performance.now();
        return;
      }
      if (closed || watched.size >= MAX_LISTED_WATCHES) return;
      // Nobody is told here: whoever keeps pages is told of every event.
      const handle = directories
        .watch(segments, () => {})
        .catch((error: unknown) => {
          told(error);
          return undefined;
        });
      watched.set(key, { handle, listedAt: performance.now() });
      timer ??= setInterval(endIdle, IDLE_MS / 2).unref();
    },
    get size() {
      return watched.size;
    },
    async close() {
      closed = true;
      clearInterval(timer);
      await Promise.all([...watched].map(([key, each]) => end(key, each)));
    },
  };
}
