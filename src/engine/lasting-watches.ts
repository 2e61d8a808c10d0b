/** Keeps watches over a reload of the mounts: when a watched mount is replaced, the watch is opened again on the new one. */
import type { Log } from '../core/context.ts';

export interface LastingWatch {
  /** Opens the watch on the present mounts. */
  readonly open: () => Promise<AsyncDisposable>;
  /** Reports to the watcher that the watched mount was replaced. */
  readonly replaced: () => void;
  /** Returns the object that is watched; a reload that does not change it keeps the watch. Default: each reload opens it again. */
  readonly on?: (() => unknown) | undefined;
  readonly log: Log;
}

export interface LastingWatches {
  /** Opens a watch. @throws errors of opening it */
  add(watch: LastingWatch): Promise<AsyncDisposable>;
  /** After a reload, opens the watches again whose mount was replaced. */
  renew(): Promise<void>;
}

interface Lasting extends LastingWatch {
  handle: Promise<AsyncDisposable>;
  opened: unknown;
}

const NOTHING: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };

export function createLastingWatches(): LastingWatches {
  const all = new Set<Lasting>();

  async function end(lasting: Lasting): Promise<void> {
    all.delete(lasting);
    await dispose(lasting.handle);
  }

  async function renew(lasting: Lasting): Promise<void> {
    const opened = lasting.on?.();
    if (lasting.on !== undefined && opened === lasting.opened) return;
    const before = lasting.handle;
    lasting.opened = opened;
    lasting.handle = lasting.open().catch((error: unknown) => {
      lasting.log.debug('the watched resource no longer exists or cannot be watched', { error });
      return NOTHING;
    });
    lasting.replaced();
    await Promise.all([lasting.handle, dispose(before)]);
  }

  return {
    async add(watch) {
      const lasting: Lasting = { ...watch, opened: watch.on?.(), handle: watch.open() };
      all.add(lasting);
      try {
        await lasting.handle;
      } catch (error) {
        await end(lasting);
        throw error;
      }
      return { [Symbol.asyncDispose]: () => end(lasting) };
    },
    async renew() {
      await Promise.all([...all].map(renew));
    },
  };
}

const dispose = (handle: Promise<AsyncDisposable>): Promise<void> =>
  handle.then(
    (opened) => opened[Symbol.asyncDispose](),
    () => {},
  );
