/** Ends work when a signal is aborted. All waiters share one listener, because Node reports many listeners as a leak. */

/** The functions that each signal calls when it is aborted. */
const waiting = new WeakMap<AbortSignal, { readonly acts: Set<() => void>; readonly fire: () => void }>();

/** Calls `act` when the signal is aborted, unless the returned function was called before. The signal must not be aborted yet. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  const own = (): void => act();
  const found = waiting.get(signal);
  const acts = found?.acts ?? new Set();
  const all = (): void => {
    for (const each of acts) each();
  };
  const fire = found?.fire ?? all;
  acts.add(own);
  if (found === undefined) {
    waiting.set(signal, { acts, fire });
    signal.addEventListener('abort', fire, { once: true });
  }
  return () => {
    if (!acts.delete(own) || acts.size > 0) return;
    // A signal with a listener may stay in memory.
    signal.removeEventListener('abort', fire);
    waiting.delete(signal);
  };
}

/** Settles as the promise does, or rejects with the signal's reason if that comes first. The promise's work continues. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(stop);
  });
}

/** Runs work with its own signal, which follows the given one. The SDK adds one listener per request to the signal it gets. */
export async function withOwnSignal<T>(signal: AbortSignal, run: (own: AbortSignal) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const stop = onAbort(signal, () => own.abort(signal.reason));
  try {
    return await run(own.signal);
  } finally {
    stop();
  }
}
