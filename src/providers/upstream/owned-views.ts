/** Keeps the connections to a server that each serve one client, and closes those that nobody uses. */
import type { Log } from '../../core/context.ts';
import { isIdle, type View } from './view.ts';

/** A client's own connection is closed when the client has not used it for this long, in milliseconds. */
const IDLE_MS = 5 * 60_000;

/** The same for a client that has watched changes and no longer does, since it has probably gone, in milliseconds. */
const LEFT_MS = 15_000;

/** The same for the shared connection to a program, if clients have connections of their own, in milliseconds. */
const UNSHARED_MS = 60_000;

/** Milliseconds between checks for unused connections. */
const SWEEP_MS = 10_000;

export interface OwnedViews extends Iterable<View> {
  readonly size: number;
  add(view: View): void;
  /** Returns the view with a key. */
  find(key: string): View | undefined;
  /** Returns a view with this key that no call uses now. */
  findFree(key: string): View | undefined;
  /** Returns a view with this key whose last client has gone. */
  findEnding(key: string): View | undefined;
  /** Closes a view, without waiting. */
  discard(view: View): void;
  /**
   * Whether there is room for one more connection. If not, makes room by closing the one that was unused for longest, or one
   * whose last client has gone.
   */
  hasRoom(): boolean;
  close(): Promise<void>;
}

export interface OwnedViewsOptions {
  /** The name of the mount, for the log. */
  readonly name: string;
  readonly log: Log;
  /** The most connections. */
  readonly max: number;
  /** Whether each connection starts a program. */
  readonly isProgram: boolean;
  /** The connection that clients without one of their own use. */
  readonly shared: View;
}

export function createOwnedViews({ name, log, max, isProgram, shared }: OwnedViewsOptions): OwnedViews {
  const owned = new Set<View>();
  const sweep = setInterval(expire, SWEEP_MS);
  sweep.unref();

  // Watches on a server behind a URL go over the shared connection, so they do not keep this one.
  const isUnused = (view: View): boolean => view.running === 0 && (!isProgram || !view.watching.busy);

  function discard(view: View): void {
    owned.delete(view);
    view.close().catch((error: unknown) => log.debug('upstream', { mount: name, error }));
  }

  function expire(): void {
    const unusedFor = (view: View): number => Date.now() - view.usedAt;
    for (const view of owned) {
      if (isUnused(view) && unusedFor(view) > (isProgram && view.watched ? LEFT_MS : IDLE_MS)) discard(view);
    }
    if (isProgram && owned.size > 0 && isIdle(shared) && unusedFor(shared) > UNSHARED_MS) {
      if (shared.supervisor.current !== undefined) void shared.supervisor.rest();
    }
  }

  return {
    get size() {
      return owned.size;
    },
    [Symbol.iterator]: () => owned.values(),
    add: (view) => void owned.add(view),
    find: (key) => [...owned].find((view) => view.key === key),
    findFree: (key) => [...owned].find((view) => view.key === key && view.running === 0),
    findEnding: (key) => [...owned].find((view) => view.key === key && view.ending !== undefined),
    discard,
    hasRoom() {
      if (owned.size < max) return true;
      const unused = [...owned].filter(isUnused);
      const oldest =
        unused.reduce<View | undefined>((a, b) => (a === undefined || b.usedAt < a.usedAt ? b : a), undefined) ??
        [...owned].find(({ ending }) => ending !== undefined);
      if (oldest === undefined) return false;
      discard(oldest);
      return true;
    },
    async close() {
      clearInterval(sweep);
      const all = [...owned];
      owned.clear();
      await Promise.allSettled(all.map((view) => view.close()));
    },
  };
}
