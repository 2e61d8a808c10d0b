/** Logs what a mounted program writes to standard error. */
import { createAllowance } from '../../../connection/allowance.ts';
import type { Log } from '../../../core/context.ts';
import type { Said } from '../said.ts';

/** The most characters of one piece of standard error that are logged. */
const MAX_LOG_LINE = 2_000;

/** How many pieces of standard error are logged. */
const LOGGED = { burst: 100, perSecond: 10 } as const;

/**
 * Makes the function that logs a piece of standard error. It logs only the beginning of each piece, and only a few pieces a
 * second. It returns the logged line; undefined for a piece that is not logged.
 */
export function errorLog(name: string, log: Log, said: Said): (chunk: Buffer) => string | undefined {
  const logged = createAllowance(LOGGED);
  let leftOut = 0;
  return (chunk) => {
    if (!logged.take(1)) {
      leftOut += chunk.length;
      return undefined;
    }
    // A character has at most four bytes. `said` removes secrets, because some programs print their environment.
    const line = said.text(chunk.toString('utf8', 0, 4 * MAX_LOG_LINE).slice(0, MAX_LOG_LINE)).trimEnd();
    if (line === '') return undefined;
    const before = leftOut === 0 ? {} : { bytesLeftOut: leftOut };
    leftOut = 0;
    log.debug('an upstream wrote to standard error', { mount: name, line, ...before });
    return `${line}\n`;
  };
}
