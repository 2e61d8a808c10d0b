/** Work that ends when a signal is aborted. One listener of a signal stands for many: more than a few look like a leak to Node. */

/** The functions that each signal calls when it is aborted. */
const waiting = new WeakMap<AbortSignal, { readonly acts: Set<() => void>; readonly fire: () => void }>();

/** Does something when the signal is aborted, unless what it gives was called before. The signal is not aborted yet. */
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
    // A signal with a listener may be kept in memory.
    signal.removeEventListener('abort', fire);
    waiting.delete(signal);
  };
}

/** Settles as the promise does, or rejects with the signal's reason if that comes first. The promise's work goes on. */
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

/** Runs it with a signal of its own that is aborted with the other one, to which the SDK would add one listener a request. */
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
