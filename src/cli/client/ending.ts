/** Runs the work of a command until it is done, a signal comes, or the reader of its output is gone, and sets the exit status. */
import type { Secrets } from '../../config/secrets.ts';
import { UsageError } from '../errors.ts';
import { EXIT_OK, exitOfSignal } from './exit-codes.ts';
import { createOutput, type Output, OutputClosed, type OutputFlags } from './printing/output.ts';

/** The reason of the abort signal when a signal of the operating system asks the process to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly by: NodeJS.Signals;

  constructor(by: NodeJS.Signals) {
    super(`ended by ${by}`);
    this.by = by;
  }
}

/**
 * Runs work that prints, and sets the exit status. This function itself connects to no server.
 * @param work gives the status; its signal is aborted when the work has to end
 */
export async function withOutput(
  flags: OutputFlags,
  secrets: Secrets,
  work: (output: Output, signal: AbortSignal) => Promise<number>,
): Promise<void> {
  if (flags.json === true && flags.jsonl === true) throw new UsageError('Say --json or --jsonl, not both');
  const controller = new AbortController();
  const { signal } = controller;
  const output = createOutput(flags, secrets, () => controller.abort(new OutputClosed()));
  const forget = onSignals((by) => controller.abort(new Interrupted(by)));
  try {
    const status = await work(output, signal);
    process.exitCode = endOf(signal) ?? status;
  } catch (error) {
    const status = error instanceof OutputClosed ? EXIT_OK : endOf(signal);
    if (status === undefined) throw error;
    process.exitCode = status;
  } finally {
    output.close();
    forget();
  }
}

/** The status of work that was ended from outside: 128 plus the number of the signal, or 0 without a reader. Else undefined. */
function endOf({ aborted, reason }: AbortSignal): number | undefined {
  if (!aborted) return undefined;
  return reason instanceof Interrupted ? exitOfSignal(reason.by) : EXIT_OK;
}

/** Ends the work in order at the first signal, and the process at once at the second. @returns a function that stops listening */
function onSignals(stop: (by: NodeJS.Signals) => void): () => void {
  let stopping = false;
  const listener = (by: NodeJS.Signals): void => {
    if (stopping) process.exit(exitOfSignal(by));
    stopping = true;
    stop(by);
  };
  const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}
