/** The errors of commands, and the line and exit status for each. */

import { ConfigError } from '../config/error.ts';
import { ResourceError } from '../core/errors.ts';

/** A mistake on the command line. Its exit status is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A failure with an exit status of its own. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly status: number;

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** Returns the line to print for an error, and the exit status. */
export function explainFailure(error: unknown): { line: string; status: number } {
  if (error instanceof ConfigError || error instanceof UsageError) return { line: error.message, status: EXIT_USAGE };
  if (error instanceof CommandFailure) return { line: error.message, status: error.status };
  if (error instanceof ResourceError)
    return { line: error.message, status: error.code === 'invalid' ? EXIT_USAGE : EXIT_FAILED };
  const message = error instanceof Error ? error.message : String(error);
  return { line: `${message} (this is a defect of Vitrine; run again with --log-level debug)`, status: EXIT_FAILED };
}
