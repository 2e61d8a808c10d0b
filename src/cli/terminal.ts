/** The standard streams of a command, and the signals that end it. */
import type { Readable, Writable } from 'node:stream';
import type { Log } from '../core/context.ts';
import { type Stopping, takeSignals } from './stopping.ts';

/** The streams and signals of a command; tests replace them. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
  readonly errors: Writable;
  /** Handles the signals that end the command, from now on. */
  takeSignals(log: Log): Stopping;
  /** Listens to SIGHUP until the returned function is called. Undefined if there are no signals. */
  readonly onHangup?: ((listener: () => void) => () => void) | undefined;
  /** Ends the process at once, whatever it still waits for. */
  exit(status?: number): void;
}

/** The terminal of the process. */
export const processTerminal: Terminal = {
  get input() {
    return process.stdin;
  },
  get output() {
    return process.stdout;
  },
  get errors() {
    return process.stderr;
  },
  takeSignals,
  onHangup(listener) {
    process.on('SIGHUP', listener);
    return () => void process.off('SIGHUP', listener);
  },
  exit: (status) => process.exit(status),
};
