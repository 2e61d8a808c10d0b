/** The wire to an upstream: a child process, or an HTTP endpoint. */
import { createAllowance } from '../../../connection/allowance.ts';
import type { ConnectionTransport } from '../../../connection/dial.ts';
import { httpTransport, type StreamEvents } from '../../../connection/http.ts';
import type { Intake } from '../../../connection/intake.ts';
import { postMessage } from '../../../connection/node/post.ts';
import { programTransport } from '../../../connection/node/program.ts';
import type { Log } from '../../../core/context.ts';
import { isStdio, type UpstreamTarget } from '../options.ts';
import type { Said } from '../said.ts';

/** Kept of what a program writes to standard error at a time, in characters. */
const MAX_LOG_LINE = 2_000;

/** Pieces of what a program writes to standard error that are logged. */
const LOGGED = { burst: 100, perSecond: 10 } as const;

export function createTransport(
  target: UpstreamTarget,
  name: string,
  { log, said }: { readonly log: Log; readonly said: Said },
  intake: Intake,
  events: StreamEvents,
): ConnectionTransport {
  if (isStdio(target)) return programTransport(target, intake, errorLog(name, log, said));
  return httpTransport({ ...target, post: postMessage }, intake, events);
}

/** Logs what a program writes to standard error: the beginning of each piece, and not more than a few in a second. */
function errorLog(name: string, log: Log, said: Said): (chunk: Buffer) => void {
  const logged = createAllowance(LOGGED);
  let leftOut = 0;
  return (chunk) => {
    if (!logged.take(1)) {
      leftOut += chunk.length;
      return;
    }
    // A character has at most four bytes. What it was given in its environment may be secret, and some programs print it.
    const line = said.text(chunk.toString('utf8', 0, 4 * MAX_LOG_LINE).slice(0, MAX_LOG_LINE)).trimEnd();
    if (line === '') return;
    const before = leftOut === 0 ? {} : { bytesLeftOut: leftOut };
    leftOut = 0;
    log.debug('an upstream wrote to standard error', { mount: name, line, ...before });
  };
}
