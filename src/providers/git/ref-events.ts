/**
 * When references may have moved: the system tells of their folders, and they are looked at from time to time where it
 * tells nothing. Opened for the first who listens, ended with the last.
 */
import { type FSWatcher, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../core/context.ts';
import type { Place } from './repository.ts';

/** The most folders of references that are watched: names with slashes have their own. Others are polled. */
const MAX_FOLDERS = 256;

/** Events within this time are one, in milliseconds. */
const SETTLE_MS = 50;

export interface RefEvents {
  /** Watches folders that have come since. */
  follow(): Promise<void>;
  close(): void;
}

/** @param onMaybe may be called for nothing, never while it is closed */
export async function watchRefs(
  { gitDirectory, commonDirectory }: Place,
  pollSeconds: number,
  onMaybe: () => void,
  log: () => Log,
): Promise<RefEvents> {
  const watchers = new Map<string, FSWatcher>();
  let settling: NodeJS.Timeout | undefined;
  let closed = false;
  let told = false;

  const event = (): void => {
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
        // A folder that is gone is let go, so that one of the same name is watched anew.
        if (kind === 'rename' && name === '.') drop(path);
        if (name?.endsWith('.lock')) return;
        event();
      });
      watcher.on('error', () => {
        drop(path);
        event();
      });
      watchers.set(path, watcher);
    } catch (error) {
      // A folder that is not there yet: the one that it is in tells when it comes.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      if (!told) log().warn('references are looked at from time to time only: they cannot be watched', { error });
      told = true;
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
    const there = new Set(wanted);
    for (const path of watchers.keys()) if (!there.has(path)) drop(path);
    for (const path of there) if (path !== join(commonDirectory, 'reftable') || (await exists(path))) add(path);
  }

  const poll = pollSeconds > 0 ? setInterval(event, pollSeconds * 1_000).unref() : undefined;
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
