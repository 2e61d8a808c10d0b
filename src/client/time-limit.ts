/** Checks the times that callers set, because timers take other numbers as 1 millisecond. */
import { ResourceClientError } from './errors.ts';

/** The longest time of a timer, in milliseconds: nearly 25 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Returns the milliseconds for a timer. A longer time, such as `Infinity`, becomes the longest that a timer has.
 * @param name the option that sets the time, for the error
 * @throws ResourceClientError `invalid` for anything but a number above 0
 */
export function timerMs(ms: number, name: 'timeoutMs' | 'connectTimeoutMs'): number {
  if (typeof ms === 'number' && ms > 0) return Math.min(ms, MAX_TIMER_MS);
  throw new ResourceClientError('invalid', `${name} is a number of milliseconds above 0`);
}

/** Returns the options of a call unchanged. @throws ResourceClientError `invalid` for a `timeoutMs` that is no time */
export function checkedTimes<Options extends { readonly timeoutMs?: number | undefined }>(options: Options): Options {
  if (options.timeoutMs !== undefined) timerMs(options.timeoutMs, 'timeoutMs');
  return options;
}
