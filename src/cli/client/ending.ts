/** Work that prints, and that a signal or the end of its reader may end: the status of the process comes of it. */
import type { Secrets } from '../../config/secrets.ts';
import { UsageError } from '../errors.ts';
import { EXIT_OK, exitOfSignal } from './exit-codes.ts';
import { createOutput, type Output, OutputClosed, type OutputFlags } from './printing/output.ts';

/** The reason of the signal when the process is told to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly by: NodeJS.Signals;

  constructor(by: NodeJS.Signals) {
    super(`ended by ${by}`);
    this.by = by;
  }
}

/** Does work that prints, and can be ended by a signal; sets the exit status. Nothing is connected. */
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

/** The status of what was ended from outside: 128 and the number of the signal; 0 where the reader had enough. */
function endOf({ aborted, reason }: AbortSignal): number | undefined {
  if (!aborted) return undefined;
  return reason instanceof Interrupted ? exitOfSignal(reason.by) : EXIT_OK;
}

/** The first one ends the work in order, the second one the process at once. */
function onSignals(stop: (by: NodeJS.Signals) => void): () => void {
  let stopping = false;
  const heard = (by: NodeJS.Signals): void => {
    if (stopping) process.exit(exitOfSignal(by));
    stopping = true;
    stop(by);
  };
  const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, heard);
  return () => {
    for (const signal of signals) process.off(signal, heard);
  };
}
