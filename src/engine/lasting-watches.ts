/** Watches that outlast what they were opened on: when that is replaced, they are opened again on what has come. */
import type { Log } from '../core/context.ts';

export interface Wanted {
  /** Opens it on what there is now. */
  readonly open: () => Promise<AsyncDisposable>;
  /** Tells whoever watches that what there was has been replaced. */
  readonly replaced: () => void;
  /** Returns what it is opened on now; where that is the same as before, the watch stays. Default: never the same. */
  readonly on?: (() => unknown) | undefined;
  readonly log: Log;
}

export interface LastingWatches {
  /** @throws what opening it throws */
  add(wanted: Wanted): Promise<AsyncDisposable>;
  /** Opens them again that were opened on something else. */
  renew(): Promise<void>;
}

interface Lasting extends Wanted {
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
      lasting.log.debug('what was watched is not there any more, or cannot be watched', { error });
      return NOTHING;
    });
    lasting.replaced();
    await Promise.all([lasting.handle, dispose(before)]);
  }

  return {
    async add(wanted) {
      const lasting: Lasting = { ...wanted, opened: wanted.on?.(), handle: wanted.open() };
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
