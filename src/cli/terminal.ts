/** The standard streams of a command, and the signals that end it. */
import type { Readable, Writable } from 'node:stream';
import type { Log } from '../core/context.ts';
import { type Stopping, takeSignals } from './stopping.ts';

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
  readonly errors: Writable;
  /** Listens to who may end it, from now on. */
  takeSignals(log: Log): Stopping;
  /** Listens to SIGHUP until the function that it gives is called. Left out where there are no signals. */
  readonly onHangup?: ((heard: () => void) => () => void) | undefined;
  /** Ends what is left, whatever it waits for. */
  exit(status?: number): void;
}

/** That of the process. */
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
  onHangup(heard) {
    process.on('SIGHUP', heard);
    return () => void process.off('SIGHUP', heard);
  },
  exit: (status) => process.exit(status),
};
