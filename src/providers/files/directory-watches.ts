/**
 * Watches on directories, shared and counted. One watch on a directory reports every name in it, so a thousand
 * subscribed files of a folder cost one. (`docs/decisions/0006-watching.md` says why this is not a library.)
 *
 * A directory is watched together with its parent, up to the root: that is how it is noticed that a directory was moved
 * away, deleted, or created again under the same name, and the watch put on what is there now.
 */
import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { systemCode } from './fault.ts';
import { openBeneath } from './open.ts';

/** A change of one name in a directory or, without a name, possibly of all of them. */
export interface DirectoryEvent {
  readonly name: string | undefined;
  /** The name came, went or was replaced; otherwise only its content or attributes changed. */
  readonly structural: boolean;
}

export type DirectoryListener = (event: DirectoryEvent) => void;

export interface DirectoryWatches {
  /** Reports on a directory below the root, which need not exist yet, from the moment the promise resolves. */
  watch(segments: readonly string[], listener: DirectoryListener): Promise<AsyncDisposable>;
  readonly size: number;
  close(): Promise<void>;
}

/** How often a root that has vanished is looked for, in milliseconds. */
const ROOT_RETRY_MS = 1_000;

/** How Linux names the watched directory itself in an event: the end of the path, which is a name of no child. */
const ITSELF = '.';

interface Node {
  readonly segments: readonly string[];
  readonly listeners: Set<DirectoryListener>;
  watcher: FSWatcher | undefined;
  /** Device and inode of what is watched. */
  identity: string | undefined;
  /** The watch has ended or may have: an equal identity then says nothing, since inodes are used again. */
  stale: boolean;
  /** The latest arming; they run one after the other. */
  arming: Promise<void>;
  /** An arming waits for its turn: it will see what one more would. */
  waiting: boolean;
  parent: AsyncDisposable | undefined;
  retry: NodeJS.Timeout | undefined;
  ended: boolean;
}

const ALL: DirectoryEvent = { name: undefined, structural: true };

/** @param changed is told of each directory in which something happened, before the listeners are */
export function createDirectoryWatches(
  root: string,
  log: () => Log,
  changed: (segments: readonly string[]) => void = () => {},
): DirectoryWatches {
  const nodes = new Map<string, Promise<Node>>();
  let closed = false;

  const tell = (node: Node, event: DirectoryEvent): void => {
    changed(node.segments);
    for (const listener of [...node.listeners]) listener(event);
  };

  /** Puts the watch on the directory that has the name now; says so to the listeners when that is another one. */
  async function arm(node: Node, first: boolean): Promise<void> {
    if (node.ended) return;
    const stale = node.stale;
    node.stale = false;
    const identity = await lookAt(node);
    if (identity === undefined && node.segments.length === 0 && !node.ended) {
      clearTimeout(node.retry);
      node.retry = setTimeout(() => rearm(node), ROOT_RETRY_MS).unref();
    }
    if (node.ended || (identity?.id === node.identity && !stale)) return identity?.close();
    node.watcher?.close();
    node.watcher = undefined;
    node.identity = identity?.id;
    if (identity !== undefined) {
      try {
        node.watcher = start(node, identity.path);
      } finally {
        await identity.close();
      }
    }
    if (!first) tell(node, ALL);
  }

  async function lookAt(node: Node): Promise<{ id: string; path: string; close: () => Promise<void> } | undefined> {
    try {
      const opened = await openBeneath(root, node.segments, 'metadata', '');
      if (opened.stat.isDirectory()) {
        const lies = node.segments.length === 0 ? root : opened.path;
        const path = process.platform === 'linux' ? `${lies}/${ITSELF}` : lies;
        return { id: `${opened.stat.dev}:${opened.stat.ino}`, path, close: () => opened.handle.close() };
      }
      await opened.handle.close();
    } catch (error) {
      log().debug('a watched directory is not there', { error });
    }
    return undefined;
  }

  function start(node: Node, path: string): FSWatcher {
    try {
      const watcher = watch(path, { persistent: false }, (type, filename) => {
        const name = filename ?? undefined;
        tell(node, { name, structural: type === 'rename' || name === undefined });
        // Named like the watched path is the directory itself: moved or deleted, which ends the watch.
        if (type === 'rename' && name === basename(path)) node.stale = true;
        if (node.stale || (node.segments.length === 0 && type === 'rename')) rearm(node);
      });
      watcher.on('error', (error) => {
        log().debug('a watch ended', { error });
        watcher.close();
        if (node.watcher === watcher) node.stale = true;
        rearm(node);
      });
      return watcher;
    } catch (error) {
      node.stale = true;
      const code = systemCode(error);
      if (code === 'ENOSPC' || code === 'EMFILE') {
        throw new ResourceError(
          'limited',
          'The system of the server has no more file watches; raise fs.inotify.max_user_watches',
          {
            cause: error,
          },
        );
      }
      throw error;
    }
  }

  function rearm(node: Node): void {
    if (node.waiting) return;
    node.waiting = true;
    node.arming = node.arming
      .then(() => {
        node.waiting = false;
        return arm(node, false);
      })
      .catch((error: unknown) => log().warn('a directory is no longer watched', { error }));
  }

  async function create(segments: readonly string[]): Promise<Node> {
    const node: Node = {
      segments,
      listeners: new Set(),
      watcher: undefined,
      identity: undefined,
      stale: false,
      arming: Promise.resolve(),
      waiting: false,
      parent: undefined,
      retry: undefined,
      ended: false,
    };
    const own = segments.at(-1);
    if (own !== undefined) {
      node.parent = await add(segments.slice(0, -1), ({ name, structural }) => {
        if (structural && (name === undefined || name === own)) rearm(node);
      });
    }
    const armed = node.arming.then(() => arm(node, true));
    node.arming = armed.catch(() => {});
    try {
      await armed;
    } catch (error) {
      await end(node);
      throw error;
    }
    return node;
  }

  async function end(node: Node): Promise<void> {
    node.ended = true;
    clearTimeout(node.retry);
    node.watcher?.close();
    await node.arming;
    node.watcher?.close();
    await node.parent?.[Symbol.asyncDispose]();
  }

  async function add(segments: readonly string[], listener: DirectoryListener): Promise<AsyncDisposable> {
    if (closed) throw new ResourceError('unavailable', 'The folder of this mount is being closed');
    const key = segments.join('/');
    let pending = nodes.get(key);
    if (pending === undefined) {
      const created = create(segments);
      created.catch(() => nodes.get(key) === created && nodes.delete(key));
      nodes.set(key, created);
      pending = created;
    }
    const node = await pending;
    if (node.ended) return add(segments, listener);
    node.listeners.add(listener);
    let disposed: Promise<void> | undefined;
    const dispose = async (): Promise<void> => {
      node.listeners.delete(listener);
      if (node.listeners.size > 0 || node.ended) return;
      if (nodes.get(key) === pending) nodes.delete(key);
      await end(node);
    };
    return { [Symbol.asyncDispose]: () => (disposed ??= dispose()) };
  }

  return {
    watch: (segments, listener) => add(segments, (event) => listener(event)),
    get size() {
      return nodes.size;
    },
    async close() {
      closed = true;
      const open = [...nodes.values()];
      nodes.clear();
      const settled = await Promise.allSettled(open);
      await Promise.all(
        settled.map((result) => (result.status === 'fulfilled' && !result.value.ended ? end(result.value) : undefined)),
      );
    },
  };
}
