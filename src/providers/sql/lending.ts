/**
 * Connections of a pool, lent to one reading after the other. Who waits for one takes turns with others, and its time
 * begins when it has one. A connection comes back when nothing of its reading is left on it, and only then is lent again.
 */
import type { FairQueue } from '../../core/waiting/fair-queue.ts';
import type { Limits } from './dialect.ts';
import { closedWhileReading, closing, stoppable } from './stoppable.ts';

/** The operations of a kind of database on its connections. */
export interface Connecting<C> {
  /** Takes one out of the pool, or makes one. */
  connect(): Promise<C>;
  /** Gives one back on which nothing ran. */
  giveBack(connection: C): void;
  /** Cleans a connection after a reading and gives it back; ends one that cannot be cleaned. */
  clean(connection: C): Promise<void>;
  /** Stops what runs on it, and ends it. */
  cancel(connection: C): Promise<void>;
  /** Whether the connection was lost, so that the same reading may do on another one. */
  isLost(error: unknown): boolean;
  /** The error for a peer. */
  errorOf(error: unknown, timeoutMs: number): unknown;
  /** Ends those that lie idle, and makes no more. */
  end(): Promise<void>;
  /** A connection did not end well. */
  onFault(error: unknown): void;
}

export type Lent = Pick<Limits, 'timeoutMs' | 'signal' | 'caller'>;

/** @param leave tells that the work stopped in the middle of its rows, so the connection cannot be used again */
export type Work<C, T> = (connection: C, leave: () => void) => Promise<T>;

export interface Lending<C> {
  /** @throws ResourceError `limited` where no connection becomes free, and as `Connection.run` */
  lend<T>(limits: Lent, work: Work<C, T>): Promise<T>;
  /** Stops all; resolves when there is no connection any more. */
  close(): Promise<void>;
}

export function createLending<C>(queue: FairQueue, connecting: Connecting<C>): Lending<C> {
  const { connect, giveBack, clean, cancel, isLost, errorOf, end: endAll, onFault } = connecting;
  const closed = closing();
  let ended: Promise<void> | undefined;
  /** Connections that are being given back or ended. */
  const endings = new Set<Promise<unknown>>();

  const later = (ending: Promise<unknown>): void => {
    const settled = ending.catch(onFault);
    endings.add(settled);
    void settled.then(() => endings.delete(settled));
  };

  async function once<T>(limits: Lent, work: Work<C, T>): Promise<T> {
    const release = await queue.take(limits.caller, limits.signal);
    let connection: C | undefined;
    let begun = false;
    let stopped = false;

    /** The place is free when the connection is. */
    const end = (ending: Promise<unknown>): void => later(ending.finally(release));
    const stop = (): void => {
      stopped = true;
      if (connection !== undefined) end(cancel(connection));
    };

    async function run(): Promise<T> {
      begun = true;
      const connected = await connect().catch((error: unknown) => {
        release();
        throw error;
      });
      if (stopped) {
        giveBack(connected);
        release();
        throw new Error('stopped');
      }
      connection = connected;
      let left = false;
      try {
        return await work(connected, () => {
          left = true;
        });
      } catch (error) {
        left ||= isLost(error);
        throw error;
      } finally {
        // A connection that was stopped ends with its statement.
        if (!stopped) end(left ? cancel(connected) : clean(connected));
        connection = undefined;
      }
    }

    try {
      return await stoppable({ ...limits, closed: closed.signal }, run, stop);
    } finally {
      if (!begun) release();
    }
  }

  async function endingAll(): Promise<void> {
    const why = closedWhileReading();
    queue.close(why);
    closed.abort(why);
    await Promise.all(endings);
    await endAll();
    // Waits for connections that were still being opened.
    await Promise.all(endings);
  }

  return {
    async lend(limits, work) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await once(limits, work);
        } catch (error) {
          if (limits.signal.aborted && error === limits.signal.reason) throw error;
          // A connection that was kept may have ended, as when the server was restarted. Reading it again harms nothing.
          if (attempt === 1 && isLost(error)) continue;
          throw errorOf(error, limits.timeoutMs);
        }
      }
    },
    close() {
      ended ??= endingAll();
      return ended;
    },
  };
}
