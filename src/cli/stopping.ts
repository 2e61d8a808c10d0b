/** How serving ends: in order at the first signal, at once at the second one, and in any case within its time. */
import type { Log } from '../core/context.ts';

/** How long all of the end may take, in milliseconds: five seconds, less what a busy machine needs to notice. */
const STOP_MS = 4_000;

export interface Stopping {
  /** Resolves at the first SIGINT or SIGTERM. */
  readonly signalled: Promise<'stopped'>;
  /** The end has begun, for whatever reason: from now on its time runs. */
  begin(): void;
}

/** From now on the end has its time; after it the process exits, whatever is left. Whoever has ended before clears it. */
export function limitEnd(log: Log): NodeJS.Timeout {
  const giveUp = (): void => {
    log.error('the server did not end in time: what is left of it is ended now');
    process.exit(1);
  };
  return setTimeout(giveUp, STOP_MS).unref();
}

/** Takes the signals from now on. Where the process exits, whatever way, programs that it started are killed. */
export function takeSignals(log: Log): Stopping {
  let begun = false;
  function begin(): void {
    if (begun) return;
    begun = true;
    limitEnd(log);
  }
  const signalled = new Promise<'stopped'>((done) => {
    let stopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (stopping) process.exit(signal === 'SIGINT' ? 130 : 143);
      stopping = true;
      begin();
      done('stopped');
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
  return { signalled, begin };
}
