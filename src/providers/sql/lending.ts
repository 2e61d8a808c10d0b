/**
 * Lends the connections of a pool to one reading after the other. Callers that wait for a connection take turns; the time
 * of a reading begins with its turn. A connection is lent again only when nothing of the earlier reading is left on it.
 */
import type { FairQueue } from '../../core/waiting/fair-queue.ts';
import type { Limits } from './dialect.ts';
import { closedWhileReading, closing, stoppable } from './stoppable.ts';

/** The operations of a kind of database on its connections. */
export interface Connecting<C> {
  /** Takes a connection out of the pool, or opens one. */
  connect(): Promise<C>;
  /** Gives back a connection on which no statement ran. */
  giveBack(connection: C): void;
  /** Cleans a connection after a reading and gives it back; ends one that cannot be cleaned. */
  clean(connection: C): Promise<void>;
  /** Stops the statement that runs on a connection, and ends the connection. */
  cancel(connection: C): Promise<void>;
  /** Whether the error says that the connection was lost, so that the same reading may work over another one. */
  isLost(error: unknown): boolean;
  /** Turns an error of the database into the error for a peer. `timeoutMs`: how long the reading was allowed to take. */
  errorOf(error: unknown, timeoutMs: number): unknown;
  /** Ends the idle connections, and opens no more. */
  end(): Promise<void>;
  /** Is called with the error of a connection that could not be cleaned or ended. */
  onFault(error: unknown): void;
}

/** The limits of a loan: its time, the signal that ends it, and the caller whose turn it takes. */
export type Lent = Pick<Limits, 'timeoutMs' | 'signal' | 'caller'>;

/** @param leave is called when the work stops in the middle of its rows; the connection is then ended, not lent again */
export type Work<C, T> = (connection: C, leave: () => void) => Promise<T>;

export interface Lending<C> {
  /**
   * Does the work on a connection. If the connection turns out to be lost, does it once more on another one.
   * @throws ResourceError `limited` if no connection becomes free, and as `Connection.run`
   */
  lend<T>(limits: Lent, work: Work<C, T>): Promise<T>;
  /** Stops all readings; resolves when every connection has ended. */
  close(): Promise<void>;
}

export function createLending<C>(queue: FairQueue, connecting: Connecting<C>): Lending<C> {
  const { connect, giveBack, clean, cancel, isLost, errorOf, end: endAll, onFault } = connecting;
  const closed = closing();
  let ended: Promise<void> | undefined;
  /** Connections that are being given back or ended. */
  const endings = new Set<Promise<unknown>>();

  const track = (ending: Promise<unknown>): void => {
    const settled = ending.catch(onFault);
    endings.add(settled);
    void settled.then(() => endings.delete(settled));
  };

  async function lendOnce<T>(limits: Lent, work: Work<C, T>): Promise<T> {
    const release = await queue.take(limits.caller, limits.signal);
    let connection: C | undefined;
    let begun = false;
    let stopped = false;

    /** Frees the place in the queue when the connection has been given back or ended. */
    const end = (ending: Promise<unknown>): void => track(ending.finally(release));
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
      let isUnusable = false;
      try {
        return await work(connected, () => {
          isUnusable = true;
        });
      } catch (error) {
        isUnusable ||= isLost(error);
        throw error;
      } finally {
        // If the reading was stopped, `stop` has ended the connection.
        if (!stopped) end(isUnusable ? cancel(connected) : clean(connected));
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
          return await lendOnce(limits, work);
        } catch (error) {
          if (limits.signal.aborted && error === limits.signal.reason) throw error;
          // A pooled connection may have ended unnoticed, as when the database was restarted. A reading can safely be repeated.
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
