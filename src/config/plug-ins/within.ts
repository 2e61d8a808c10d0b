/** Work of a plug-in, which nobody waits for without end. */
import { abortable } from '../../core/waiting/abortable.ts';
import { ConfigError } from '../error.ts';

/**
 * Runs work with a signal that is aborted when its time is over. The work goes on then, and nobody waits for it.
 * @throws ConfigError with the message, when the time is over
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
