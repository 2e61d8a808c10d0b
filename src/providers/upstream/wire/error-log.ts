/** Logs what a mounted program writes to standard error. */
import { createAllowance } from '../../../connection/allowance.ts';
import type { Log } from '../../../core/context.ts';
import type { Said } from '../said.ts';

/** Kept of what a program writes to standard error at a time, in characters. */
const MAX_LOG_LINE = 2_000;

/** Pieces of what a program writes to standard error that are logged. */
const LOGGED = { burst: 100, perSecond: 10 } as const;

/** Logs what a program writes to standard error, and gives it: the beginning of each piece, and not more than a few in a second. */
export function errorLog(name: string, log: Log, said: Said): (chunk: Buffer) => string | undefined {
  const logged = createAllowance(LOGGED);
  let leftOut = 0;
  return (chunk) => {
    if (!logged.take(1)) {
      leftOut += chunk.length;
      return undefined;
    }
    // A character has at most four bytes. What it was given in its environment may be secret, and some programs print it.
    const line = said.text(chunk.toString('utf8', 0, 4 * MAX_LOG_LINE).slice(0, MAX_LOG_LINE)).trimEnd();
    if (line === '') return undefined;
    const before = leftOut === 0 ? {} : { bytesLeftOut: leftOut };
    leftOut = 0;
    log.debug('an upstream wrote to standard error', { mount: name, line, ...before });
    return `${line}\n`;
  };
}
