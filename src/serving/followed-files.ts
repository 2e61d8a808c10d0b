/** Checks files when they may have changed: watches their folders, and checks from time to time. */
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../core/context.ts';

/** Milliseconds between the last change and the check: related files are seldom written at the same moment. */
const SETTLE_MS = 250;

/** Milliseconds between checks if no change is reported, because some file systems report none. */
const RECHECK_MS = 60_000;

export interface FollowedFiles {
  /** Stops checking. */
  close(): void;
}

/** @param look may be called without a change */
export function followFiles(paths: readonly string[], look: () => void, log: Log): FollowedFiles {
  let settling: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(settling);
    settling = setTimeout(look, SETTLE_MS);
  };
  // Files and links are often replaced: only a watch on the folder notices that.
  const watchers = [...new Set(paths.map((path) => dirname(path)))].flatMap((folder) => {
    try {
      const watcher: FSWatcher = watch(folder, { persistent: false }, changed);
      watcher.on('error', (error) => log.debug('a folder is not watched any more', { folder, error }));
      return [watcher];
    } catch (error) {
      log.debug('a folder is not watched', { folder, error });
      return [];
    }
  });
  const recheck = setInterval(look, RECHECK_MS);
  recheck.unref();
  return {
    close() {
      clearTimeout(settling);
      clearInterval(recheck);
      for (const watcher of watchers) watcher.close();
    },
  };
}
