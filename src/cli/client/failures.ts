/** Turns an error of a server into one line for the user, and an exit status. */

import { ResourceClientError } from '../../client/errors.ts';
import { SAYS } from '../../connection/seen.ts';
import { CommandFailure, UsageError } from '../errors.ts';
import { EXIT_FAILED, EXIT_USAGE, exitOfCode } from './exit-codes.ts';
import { safe } from './printing/output.ts';

/**
 * Turns an error of the client into a failure of the command; returns any other error as it is.
 * @param label the name of the server; @param errorOutput the end of its program's error output
 */
export function failureOf(error: unknown, label: string, errorOutput = ''): unknown {
  if (!(error instanceof ResourceClientError)) return error;
  const { code, uri } = error;
  const about = uri === undefined ? '' : `: ${safe(uri)}`;
  if (code !== 'unavailable' && code !== 'timeout')
    return new CommandFailure(`${label}: ${messageOf(error)}${about}`, exitOfCode(code), { cause: error });
  const line = `${label}: ${safe(error.message)}${about}`;
  // The message may quote the program already.
  const words = SAYS.test(line) ? '' : lastLines(errorOutput);
  return new CommandFailure(words === '' ? line : `${line}; it said: ${words}`, exitOfCode(code), { cause: error });
}

/** Describes any error in one line, for example an error that ends only a part of the work. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return safe(String(error));
  const available = (error as ResourceClientError).data?.available;
  const formats = Array.isArray(available) ? `; there is ${available.map(String).join(', ')}` : '';
  const message = error.message.replace(/^MCP error -?\d+: /, '');
  return safe(`${message === '' ? error.name : message}${formats}`);
}

/** The exit status for any error. */
export const statusOf = (error: unknown): number =>
  error instanceof ResourceClientError
    ? exitOfCode(error.code)
    : error instanceof CommandFailure
      ? error.status
      : error instanceof UsageError
        ? EXIT_USAGE
        : EXIT_FAILED;

/** The most lines of a program's error output that are shown when the program does not answer. */
const MAX_LINES = 3;

function lastLines(errorOutput: string): string {
  // A program that ends at once is started a second time, in the older era, and repeats its lines.
  const lines = new Set(errorOutput.split('\n').map((line) => safe(line.trim())));
  return [...lines]
    .filter((line) => line !== '')
    .slice(-MAX_LINES)
    .join(' / ')
    .slice(-500);
}
