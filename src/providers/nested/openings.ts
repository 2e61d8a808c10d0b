/** Keeps a few containers open, for as long as somebody uses them, and closes them when nobody does. */
import { LRUCache } from 'lru-cache';
import { ResourceError } from '../../core/errors.ts';
import { type Caller, createFairQueue } from '../../core/waiting/fair-queue.ts';
import type { Inner } from './kind.ts';

/** Containers that are kept open at a time; any more are open only while they are in use. */
export const MAX_OPEN = 16;

/** The most bytes of memory that all of them take, about. */
export const MAX_WEIGHT = 128 * 1024 ** 2;

/** How long something stays open that nobody uses, in milliseconds. */
export const IDLE_MS = 60_000;

/** Containers that are opened at a time, and callers that may wait for that. */
const PLACES = 4;
const MAX_WAITING = 256;

export interface Lease {
  readonly inner: Inner;
  /** Gives it back; once is enough, and more does nothing. */
  release(): void;
}

export interface Openings {
  /**
   * Something that is open, or opened for this.
   * @param key what it is. @param state of it: in another one it is opened anew
   * @throws what `open` throws; ResourceError `limited`, `unavailable` when all is closed
   */
  use(key: string, state: string, open: () => Promise<Inner>, caller: Caller): Promise<Lease>;
  readonly open: number;
  close(): Promise<void>;
}

interface Kept {
  readonly inner: Inner;
  readonly state: string;
  users: number;
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
  /** All that is not closed yet: what is kept, and what is in use beside that. */
  const alive = new Set<Kept>();
  const closing = new Set<Promise<void>>();
  let closed = false;

  function end(of: Kept): void {
    if (!alive.delete(of)) return;
    const ending = Promise.resolve(of.inner.provider.close?.()).catch(() => {});
    closing.add(ending);
    void ending.then(() => closing.delete(ending));
  }
  const retire = (kept: Kept): void => {
    kept.retired = true;
    if (kept.users === 0) end(kept);
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
      throw gone();
    }
    // For whoever waits for it: it must not be closed before they have it.
    made.users++;
    kept.set(key, made);
    // One that is too heavy to be kept is closed after its use.
    if (kept.peek(key) !== made) made.retired = true;
    return made;
  }

  function lease(of: Kept): Lease {
    let released = false;
    of.users++;
    return {
      inner: of.inner,
      release() {
        if (released) return;
        released = true;
        if (--of.users === 0 && of.retired) end(of);
      },
    };
  }

  async function opened(key: string, state: string, open: () => Promise<Inner>, caller: Caller) {
    // Others may wait for the same: it goes on when whoever asked first has gone.
    const release = await queue.take(caller, new AbortController().signal);
    return start(key, state, open).finally(release);
  }

  return {
    async use(key, state, open, caller) {
      if (closed) throw gone();
      const there = kept.get(key);
      if (there?.state === state) return lease(there);
      const pending = `${key}\n${state}`;
      const known = opening.get(pending);
      if (known !== undefined) return lease(await known);
      const started = opened(key, state, open, caller);
      opening.set(pending, started);
      const made = await started.finally(() => opening.delete(pending));
      const taken = lease(made);
      // Those who waited with this one take theirs in the same turn, before it can be closed.
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
      queue.close(gone());
      await Promise.allSettled(opening.values());
      kept.clear();
      // Whoever still uses one has lost the mount, too.
      for (const each of alive) end(each);
      await Promise.allSettled(closing);
    },
  };
}

const gone = (): ResourceError => new ResourceError('unavailable', 'This mount is closed');
