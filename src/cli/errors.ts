/** One line for each mistake, with the way out. */

import { ConfigError } from '../config/error.ts';
import { ResourceError } from '../core/errors.ts';

/** A mistake on the command line; exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The end of a command with a status of its own. */
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

/** The line to print and the status to exit with. */
export function explainFailure(error: unknown): { line: string; status: number } {
  if (error instanceof ConfigError || error instanceof UsageError) return { line: error.message, status: EXIT_USAGE };
  if (error instanceof CommandFailure) return { line: error.message, status: error.status };
  if (error instanceof ResourceError)
    return { line: error.message, status: error.code === 'invalid' ? EXIT_USAGE : EXIT_FAILED };
  const message = error instanceof Error ? error.message : String(error);
  return { line: `${message} (this is a defect of Vitrine; run again with --log-level debug)`, status: EXIT_FAILED };
}
