/** Stops serving: in order at the first signal, at once at the second, and in any case within a time limit. */
import type { Log } from '../core/context.ts';

/** The time limit of stopping, in milliseconds: five seconds, less the time that a busy machine needs to notice. */
const STOP_MS = 4_000;

export interface Stopping {
  /** Resolves at the first SIGINT or SIGTERM. */
  readonly signalled: Promise<'stopped'>;
  /** Starts the time limit, whatever the reason for stopping. */
  begin(): void;
}

/**
 * Starts the time limit. When it is over, the process exits. The timer does not keep the process running; a process that goes on
 * after its server has stopped clears it.
 */
export function limitEnd(log: Log): NodeJS.Timeout {
  const giveUp = (): void => {
    log.error('the server did not stop in time; the process exits now');
    process.exit(1);
  };
  return setTimeout(giveUp, STOP_MS).unref();
}

/**
 * Handles SIGINT and SIGTERM from now on. Otherwise these would end the process without the event `exit`, at which the programs
 * that it started are killed (`connection/node/groups.ts`).
 */
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
