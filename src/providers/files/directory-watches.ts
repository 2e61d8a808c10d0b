/**
 * Watches directories. Listeners share the watch of a directory, and a watch reports every name in its directory, so a thousand
 * subscribed files of a folder need one watch. (`docs/decisions/0006-watching.md` says why this is not a library.)
 *
 * The parents of a directory, up to the root, are watched, too. Their events show that the directory was moved away, deleted, or
 * created again. Then the watch moves to the directory that has the path now.
 */
import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { faultOf, isNotThere, systemCode } from './fault.ts';
import { openBeneath } from './open.ts';

/** A change of one name in a directory or, without a name, possibly of all of them. */
export interface DirectoryEvent {
  readonly name: string | undefined;
  /** Whether the name came, went or was replaced. Otherwise only its content or attributes have changed. */
  readonly structural: boolean;
}

export type DirectoryListener = (event: DirectoryEvent) => void;

export interface DirectoryWatches {
  /** Reports the changes in a directory below the root, from the moment the promise resolves. The directory need not exist yet. */
  watch(segments: readonly string[], listener: DirectoryListener): Promise<AsyncDisposable>;
  readonly size: number;
  close(): Promise<void>;
}

/** Milliseconds after which the server tries again to watch a root that is missing, or a directory that cannot be watched. */
export const RETRY_MS = 1_000;

/**
 * The end of the watched path on Linux. An event of the watched directory itself has the end of its path as its name, so the path
 * ends in a name that no child has.
 */
const ITSELF = '.';

interface Node {
  readonly segments: readonly string[];
  readonly listeners: Set<DirectoryListener>;
  watcher: FSWatcher | undefined;
  /** Device and inode of the watched directory. */
  identity: string | undefined;
  /** Whether the watch may have ended. Then the same identity does not mean the same directory, because inodes are reused. */
  stale: boolean;
  /** The latest call of `arm`. Calls run one after the other. */
  arming: Promise<void>;
  /** Whether a call of `arm` waits for its turn. A second waiting call would find the same. */
  waiting: boolean;
  /** Whether the latest call of `arm` has failed. */
  hasFailed: boolean;
  parent: AsyncDisposable | undefined;
  retry: NodeJS.Timeout | undefined;
  ended: boolean;
}

const ALL: DirectoryEvent = { name: undefined, structural: true };

/** @param changed called with each directory in which something has changed, before its listeners are called */
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

  /** Moves the watch to the directory that has the path now. If it is another directory, calls the listeners. */
  async function arm(node: Node, first: boolean): Promise<void> {
    if (node.ended) return;
    const stale = node.stale;
    node.stale = false;
    const identity = await lookAt(node).catch((error: unknown) => {
      node.stale ||= stale;
      throw error;
    });
    if (identity === undefined && node.segments.length === 0) rearmLater(node);
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
        const plain = node.segments.length === 0 ? root : opened.path;
        const path = process.platform === 'linux' ? `${plain}/${ITSELF}` : plain;
        return { id: `${opened.stat.dev}:${opened.stat.ino}`, path, close: () => opened.handle.close() };
      }
      await opened.handle.close();
    } catch (error) {
      const fault = faultOf(error, '');
      if (!isNotThere(fault)) throw fault;
      log().debug('a watched directory is not there', { error });
    }
    return undefined;
  }

  function start(node: Node, path: string): FSWatcher {
    try {
      const watcher = watch(path, { persistent: false }, (type, filename) => {
        const name = filename ?? undefined;
        tell(node, { name, structural: type === 'rename' || name === undefined });
        // The directory itself was moved or deleted, which ends the watch.
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
          'The system of the server has no more file watches; raise fs.inotify.max_user_watches or max_user_instances',
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
      .then(
        () => {
          node.hasFailed = false;
        },
        (error: unknown) => {
          // Only the first of several failures in a row is logged.
          if (!node.hasFailed) log().warn('a directory is no longer watched', { error });
          node.hasFailed = true;
          rearmLater(node);
        },
      );
  }

  function rearmLater(node: Node): void {
    clearTimeout(node.retry);
    if (!node.ended) node.retry = setTimeout(() => rearm(node), RETRY_MS).unref();
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
      hasFailed: false,
      parent: undefined,
      retry: undefined,
      ended: false,
    };
    const last = segments.at(-1);
    if (last !== undefined) {
      node.parent = await add(segments.slice(0, -1), ({ name, structural }) => {
        if (structural && (name === undefined || name === last)) rearm(node);
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
