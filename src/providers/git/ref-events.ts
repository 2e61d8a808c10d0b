/**
 * Reports when references may have moved. The folders of the references are watched, and a timer reports from time to time,
 * for changes that the system does not report.
 */
import { type FSWatcher, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../core/context.ts';
import type { Place } from './repository.ts';

/** The most folders of references that are watched. A name with slashes has folders of its own. Other folders are polled. */
const MAX_FOLDERS = 256;

/** Milliseconds in which several events count as one. */
const SETTLE_MS = 50;

export interface RefEvents {
  /** Watches the folders that are new, and ends the watches on folders that are missing. */
  follow(): Promise<void>;
  close(): void;
}

/** @param onMaybe called when references may have moved, also if they have not; never after `close` */
export async function watchRefs(
  { gitDirectory, commonDirectory }: Place,
  pollSeconds: number,
  onMaybe: () => void,
  log: () => Log,
): Promise<RefEvents> {
  const watchers = new Map<string, FSWatcher>();
  let settling: NodeJS.Timeout | undefined;
  let closed = false;
  let warned = false;

  const onEvent = (): void => {
    if (closed) return;
    settling ??= setTimeout(() => {
      settling = undefined;
      onMaybe();
    }, SETTLE_MS).unref();
  };
  const drop = (path: string): void => {
    watchers.get(path)?.close();
    watchers.delete(path);
  };

  function add(path: string): void {
    if (closed || watchers.has(path) || watchers.size >= MAX_FOLDERS) return;
    try {
      const watcher = watch(path, { persistent: false }, (kind, name) => {
        // The watch on a deleted folder ends, so that a new folder of the same name is watched.
        if (kind === 'rename' && name === '.') drop(path);
        if (name?.endsWith('.lock')) return;
        onEvent();
      });
      watcher.on('error', () => {
        drop(path);
        onEvent();
      });
      watchers.set(path, watcher);
    } catch (error) {
      // The folder does not exist yet. The watch on its parent reports when it is created.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      if (!warned) log().warn('references are looked at from time to time only: they cannot be watched', { error });
      warned = true;
    }
  }

  async function follow(): Promise<void> {
    const wanted = [gitDirectory, commonDirectory, join(commonDirectory, 'reftable')];
    for (const top of ['refs', 'refs/heads', 'refs/tags']) wanted.push(join(commonDirectory, top));
    for (const path of wanted) {
      if (wanted.length > MAX_FOLDERS) break;
      const below =
        path.startsWith(join(commonDirectory, 'refs', 'heads')) ||
        path.startsWith(join(commonDirectory, 'refs', 'tags'));
      if (!below) continue;
      const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
      for (const entry of entries) if (entry.isDirectory()) wanted.push(join(path, entry.name));
    }
    const paths = new Set(wanted);
    for (const path of watchers.keys()) if (!paths.has(path)) drop(path);
    for (const path of paths) if (path !== join(commonDirectory, 'reftable') || (await exists(path))) add(path);
  }

  const poll = pollSeconds > 0 ? setInterval(onEvent, pollSeconds * 1_000).unref() : undefined;
  await follow();
  return {
    follow,
    close() {
      closed = true;
      clearInterval(poll);
      clearTimeout(settling);
      for (const path of [...watchers.keys()]) drop(path);
    },
  };
}

const exists = async (path: string): Promise<boolean> =>
  readdir(path).then(
    () => true,
    () => false,
  );
