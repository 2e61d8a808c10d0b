/** Queues changes for a reader, up to a limit, and tells the reader when changes were lost. */
export type WatchEvent =
  /** The watched resource, or one below it, has changed. Read it to see how. */
  | { readonly kind: 'updated'; readonly uri: string }
  /** The list of resources has changed. List it to see how. */
  | { readonly kind: 'list-changed' }
  /** Changes may have been lost: read and list everything again. */
  | {
      readonly kind: 'missed';
      readonly reason: /** The connection was lost, and is back. */
        | 'reconnected'
        /** A stream of notifications was interrupted, and is back. */
        | 'stream-interrupted'
        /** The reader was too slow, and changes were dropped. */
        | 'overflow';
    };

/** Gives changes as they arrive. Ends when it is closed, when the loop is left with `break`, or when its signal is aborted. */
export interface Watch extends AsyncIterable<WatchEvent>, AsyncDisposable {
  /** Resolves when the server has begun to report changes. Rejects, with the same error as the iteration, if it cannot. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** The most events that wait for a reader. When there are more, one `missed` replaces them all. */
export const MAX_WAITING_EVENTS = 1_000;

export interface EventQueue {
  push(event: WatchEvent): void;
  /** Ends the iteration with an error, after the waiting events. */
  fail(error: unknown): void;
  end(): void;
  readonly events: AsyncIterator<WatchEvent>;
}

/** @param onEnd called when the reader stops */
export function createEventQueue(onEnd: () => Promise<void>): EventQueue {
  let waiting: WatchEvent[] = [];
  let readers: { resolve(result: IteratorResult<WatchEvent>): void; reject(error: unknown): void }[] = [];
  let ended = false;
  let failure: { readonly error: unknown } | undefined;
  const same = (a: WatchEvent, b: WatchEvent): boolean =>
    a.kind === b.kind && (a.kind !== 'updated' || b.kind !== 'updated' || a.uri === b.uri);

  function end(): void {
    ended = true;
    for (const reader of readers) {
      if (failure === undefined) reader.resolve({ done: true, value: undefined });
      else reader.reject(failure.error);
    }
    readers = [];
  }

  return {
    push(event) {
      if (ended) return;
      const reader = readers.shift();
      if (reader !== undefined) {
        reader.resolve({ done: false, value: event });
        return;
      }
      // One event is enough for the reader to look again.
      if (waiting.some((each) => same(each, event))) return;
      waiting.push(event);
      if (waiting.length > MAX_WAITING_EVENTS) waiting = [{ kind: 'missed', reason: 'overflow' }];
    },
    fail(error) {
      if (ended) return;
      failure = { error };
      end();
    },
    end() {
      if (ended) return;
      waiting = [];
      end();
    },
    events: {
      next() {
        const event = waiting.shift();
        if (event !== undefined) return Promise.resolve({ done: false, value: event });
        if (ended) return failure === undefined ? DONE() : Promise.reject(failure.error);
        return new Promise((resolve, reject) => readers.push({ resolve, reject }));
      },
      async return() {
        waiting = [];
        failure = undefined;
        end();
        await onEnd();
        return { done: true, value: undefined };
      },
    },
  };
}

const DONE = (): Promise<IteratorResult<WatchEvent>> => Promise.resolve({ done: true, value: undefined });
