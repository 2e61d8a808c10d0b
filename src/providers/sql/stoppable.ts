/** Stops work in a database when its time is up, its caller leaves, or the database is closed. */
import { setMaxListeners } from 'node:events';
import { ResourceError } from '../../core/errors.ts';
import type { Limits } from './dialect.ts';

/** Milliseconds after the timeout in which the database may stop a statement itself. Then Vitrine stops it. */
const GRACE_MS = 300;

export const tookTooLong = (timeoutMs: number, cause?: unknown): ResourceError =>
  new ResourceError('timeout', `The database took longer than ${timeoutMs / 1_000} s`, { cause });

/**
 * Returns the result of the work, unless the work is stopped first: by `signal`, by `closed`, or by the timeout.
 * @param stop stops the work in the database. It is called at most once, and nothing waits for the work to end.
 * @throws the reason of the signal that stopped the work; ResourceError `timeout`
 */
export async function stoppable<T>(
  { timeoutMs, signal, closed }: Pick<Limits, 'timeoutMs' | 'signal'> & { readonly closed: AbortSignal },
  work: () => Promise<T>,
  stop: () => void,
): Promise<T> {
  const signals = [signal, closed];
  for (const each of signals) each.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let aborted = (_: Event): void => {};
  const stopped = new Promise<never>((_, reject) => {
    let ended = false;
    const end = (why: unknown): void => {
      if (!ended) stop();
      ended = true;
      reject(why);
    };
    aborted = ({ target }) => end((target as AbortSignal).reason);
    for (const each of signals) each.addEventListener('abort', aborted, { once: true });
    timer = setTimeout(() => end(tookTooLong(timeoutMs)), timeoutMs + GRACE_MS);
  });
  const working = work();
  // Work that was stopped may fail later. That error is ignored.
  working.catch(() => {});
  try {
    return await Promise.race([working, stopped]);
  } finally {
    clearTimeout(timer);
    for (const each of signals) each.removeEventListener('abort', aborted);
  }
}

/** Makes a controller for `closed`. Any number of statements may listen to its signal. */
export function closing(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** The reason to give when a database is closed while something reads it. */
export const closedWhileReading = (): ResourceError => new ResourceError('unavailable', 'The database was closed');
