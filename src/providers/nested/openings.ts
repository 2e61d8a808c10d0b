/** Opens containers, keeps a few of them open for later use, and closes those that nobody uses. */
import { LRUCache } from 'lru-cache';
import { ResourceError } from '../../core/errors.ts';
import { type Caller, createFairQueue } from '../../core/waiting/fair-queue.ts';
import type { Inner } from './kind.ts';

/** The most containers that are kept open. Others are open only while they are in use. */
export const MAX_OPEN = 16;

/** The most bytes of memory that the kept containers take, approximately. */
export const MAX_WEIGHT = 128 * 1024 ** 2;

/**
 * Milliseconds after the beginning of its last use for which a container stays open. If it is still in use then, it is closed when
 * its last user leaves.
 */
export const IDLE_MS = 60_000;

/** The most containers that are being opened at a time. */
const PLACES = 4;

/** The most containers that wait to be opened. Any number of callers may wait for one of them. */
const MAX_WAITING = 256;

export interface Lease {
  readonly inner: Inner;
  /** Ends the use. Safe to call twice. */
  release(): void;
}

export interface Openings {
  /**
   * Returns a lease of a container. The container is opened if it is not open.
   * @param key identifies the container
   * @param state the state of the container; if it is open in another state, it is opened anew
   * @throws the error of `open`; ResourceError `limited`, or `unavailable` after `close`
   */
  use(key: string, state: string, open: () => Promise<Inner>, caller: Caller): Promise<Lease>;
  /** The number of containers that are kept open. */
  readonly open: number;
  close(): Promise<void>;
}

interface Kept {
  readonly inner: Inner;
  readonly state: string;
  users: number;
  /** Whether the container is closed when its last user leaves. */
  retired: boolean;
}

export function createOpenings(idleMs = IDLE_MS): Openings {
  const queue = createFairQueue({
    places: PLACES,
    maxWaiting: MAX_WAITING,
    busy: 'Too many archives, databases and repositories are being opened at a time; try again later',
    limit: 'nested',
  });
  const opening = new Map<string, Promise<Kept>>();
  /** All containers that are not closed yet: the kept ones, and others that are still in use. */
  const alive = new Set<Kept>();
  const closing = new Set<Promise<void>>();
  let closed = false;

  function end(container: Kept): void {
    if (!alive.delete(container)) return;
    const ending = Promise.resolve(container.inner.provider.close?.()).catch(() => {});
    closing.add(ending);
    void ending.then(() => closing.delete(ending));
  }
  const retire = (container: Kept): void => {
    container.retired = true;
    if (container.users === 0) end(container);
  };
  const kept = new LRUCache<string, Kept>({
    max: MAX_OPEN,
    maxSize: MAX_WEIGHT,
    sizeCalculation: ({ inner }) => Math.max(1, Math.ceil(inner.weight)),
    ttl: idleMs,
    updateAgeOnGet: true,
    dispose: retire,
  });
  const sweep = setInterval(() => kept.purgeStale(), idleMs / 2).unref();

  async function start(key: string, state: string, open: () => Promise<Inner>): Promise<Kept> {
    const inner = await open();
    const made: Kept = { inner, state, users: 0, retired: false };
    alive.add(made);
    if (closed) {
      end(made);
      throw mountClosed();
    }
    // Counts as a user until all waiting callers have their leases, so that the container is not closed before that.
    made.users++;
    kept.set(key, made);
    // A container that is too heavy to be kept is closed after its use.
    if (kept.peek(key) !== made) made.retired = true;
    return made;
  }

  function lease(container: Kept): Lease {
    let released = false;
    container.users++;
    return {
      inner: container.inner,
      release() {
        if (released) return;
        released = true;
        if (--container.users === 0 && container.retired) end(container);
      },
    };
  }

  async function opened(key: string, state: string, open: () => Promise<Inner>, caller: Caller) {
    // No caller can abort this, because other callers may wait for the same container.
    const release = await queue.take(caller, new AbortController().signal);
    return start(key, state, open).finally(release);
  }

  return {
    async use(key, state, open, caller) {
      if (closed) throw mountClosed();
      const existing = kept.get(key);
      if (existing?.state === state) return lease(existing);
      const openingKey = `${key}\n${state}`;
      const pending = opening.get(openingKey);
      if (pending !== undefined) return lease(await pending);
      const started = opened(key, state, open, caller);
      opening.set(openingKey, started);
      const made = await started.finally(() => opening.delete(openingKey));
      const taken = lease(made);
      // The other waiting callers get their leases in this turn of the event loop. Only after it, the container may be closed.
      setImmediate(() => {
        if (--made.users === 0 && made.retired) end(made);
      });
      return taken;
    },
    get open() {
      return kept.size;
    },
    async close() {
      closed = true;
      clearInterval(sweep);
      queue.close(mountClosed());
      await Promise.allSettled(opening.values());
      kept.clear();
      // Containers in use are closed, too: their users have lost the mount.
      for (const container of alive) end(container);
      await Promise.allSettled(closing);
    },
  };
}

const mountClosed = (): ResourceError => new ResourceError('unavailable', 'This mount is closed');
