/** Files that are looked at again when they may have changed: their folders are watched, and they are looked at from time to time. */
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../core/context.ts';

/** How long after the last change files are looked at: those that belong together do not come at the same moment. */
const SETTLE_MS = 250;

/** How often they are looked at without a sign that they changed: some file systems give none. */
const RECHECK_MS = 60_000;

export interface FollowedFiles {
  /** From now on nothing is looked at any more. */
  close(): void;
}

/** @param look may be called for nothing */
export function followFiles(paths: readonly string[], look: () => void, log: Log): FollowedFiles {
  let settling: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(settling);
    settling = setTimeout(look, SETTLE_MS);
  };
  // Files are often replaced, or links to them: the folder sees it, the file that was there does not.
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
