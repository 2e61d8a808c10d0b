/** Changes on their way to somebody who reads them one by one: bounded, and a word when some were lost. */
export type WatchEvent =
  /** A resource has changed: the one that is watched, or one below it. Read it to see how. */
  | { readonly kind: 'updated'; readonly uri: string }
  /** The list of resources has changed: list to see how. */
  | { readonly kind: 'list-changed' }
  /** Changes may have been lost: look at everything again. */
  | {
      readonly kind: 'missed';
      readonly reason: /** The connection was lost, and is back. */
        | 'reconnected'
        /** A stream of notifications was interrupted, and is back. */
        | 'stream-interrupted'
        /** They were not read fast enough, and thrown away. */
        | 'overflow';
    };

/** Changes as they come. Ends when it is closed, left (`break`), or its signal is aborted. */
export interface Watch extends AsyncIterable<WatchEvent>, AsyncDisposable {
  /** Settles when the server tells of changes. Rejects with what the iteration throws, where it does not. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** Events that wait for a reader. When there are more, all of them become one `missed`. */
export const MAX_WAITING_EVENTS = 1_000;

export interface EventQueue {
  push(event: WatchEvent): void;
  /** Ends the iteration with an error, after what waits. */
  fail(error: unknown): void;
  end(): void;
  readonly events: AsyncIterator<WatchEvent>;
}

/** @param onEnd when nobody reads any more */
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
      // Whoever reads it looks once for both.
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
