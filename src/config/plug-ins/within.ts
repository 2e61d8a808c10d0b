/** Limits the time that Vitrine waits for a plug-in. */
import { abortable } from '../../core/waiting/abortable.ts';
import { ConfigError } from '../error.ts';

/**
 * Runs work with a signal that is aborted after a time. Work that ignores the signal goes on, but its result is ignored.
 * @throws ConfigError with the message when the time is over
 */
export async function within<T>(ms: number, message: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new ConfigError(message)), ms);
  try {
    return await abortable(work(over.signal), over.signal);
  } finally {
    clearTimeout(timer);
  }
}
