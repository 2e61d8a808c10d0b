/** Runs work once for all callers that want it at the same time. The work goes on as long as one of them waits for it. */
import { abortable } from './abortable.ts';

/** @typeParam K identifies the work: what it finds out, and for whom */
export interface SharedWork<K> {
  /**
   * Waits for the work that runs under a key; begins it if none does. The work is aborted when no caller waits for it any more.
   * @throws the error of the work, or the reason of the caller's signal
   */
  run<T>(key: K, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Later callers do not join the work that runs now. That work goes on for its callers. */
  disown(): void;
}

interface Running {
  readonly result: Promise<unknown>;
  readonly abort: AbortController;
  waiting: number;
}

export function createSharedWork<K>(): SharedWork<K> {
  const running = new Map<K, Running>();

  function begin(key: K, work: (signal: AbortSignal) => Promise<unknown>): Running {
    const abort = new AbortController();
    const begun: Running = { result: work(abort.signal), abort, waiting: 0 };
    running.set(key, begun);
    const end = (): void => leave(key, begun);
    begun.result.then(end, end);
    return begun;
  }

  function leave(key: K, which: Running): void {
    if (running.get(key) === which) running.delete(key);
  }

  return {
    async run(key, signal, work) {
      signal?.throwIfAborted();
      const joined = running.get(key) ?? begin(key, work);
      joined.waiting++;
      try {
        const result = joined.result as ReturnType<typeof work>;
        return await (signal === undefined ? result : abortable(result, signal));
      } finally {
        if (--joined.waiting === 0) {
          leave(key, joined);
          joined.abort.abort(signal?.reason);
        }
      }
    },
    disown: () => running.clear(),
  };
}
