/** What went wrong with a server, in one line that helps, and the status to exit with. */

import { ResourceClientError } from '../../client/errors.ts';
import { ConnectionFault } from '../../connection/faults.ts';
import { CommandFailure } from '../errors.ts';
import { EXIT_FAILED, exitOfCode } from './exit-codes.ts';
import { safe } from './output.ts';

/**
 * Any error of the client as one of the command; others are given back.
 * @param label the server; @param said what its program wrote to standard error
 */
export function failureOf(error: unknown, label: string, said = ''): unknown {
  if (!(error instanceof ResourceClientError)) return error;
  const { code, uri } = error;
  const about = uri === undefined ? '' : `: ${safe(uri)}`;
  if (code !== 'unavailable' && code !== 'timeout')
    return new CommandFailure(`${label}: ${messageOf(error)}${about}`, exitOfCode(code), { cause: error });
  const why = code === 'unavailable' || code === 'timeout' ? causeOf(error) : undefined;
  const words = lastLines(said);
  const parts = [`${label}: ${safe(error.message)}${about}`, why, words === '' ? undefined : `it said: ${words}`];
  return new CommandFailure(parts.filter((part) => part !== undefined).join('; '), exitOfCode(code), { cause: error });
}

/** The line of any error, as for one that ends a part of the work and not all of it. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return safe(String(error));
  const available = (error as ResourceClientError).data?.available;
  const formats = Array.isArray(available) ? `; there is ${available.map(String).join(', ')}` : '';
  const message = error.message.replace(/^MCP error -?\d+: /, '');
  return safe(`${message === '' ? error.name : message}${formats}`);
}

/** The status for any error. */
export const statusOf = (error: unknown): number =>
  error instanceof ResourceClientError
    ? exitOfCode(error.code)
    : error instanceof CommandFailure
      ? error.status
      : EXIT_FAILED;

/** Causes that are looked into. */
const MAX_DEPTH = 8;

const HINT = ': is that the address of its MCP endpoint, as in .../mcp?';
const NO_ENDPOINT = `it answers with what is no message of MCP${HINT}`;

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED): is it started, and is the port right?',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  EHOSTUNREACH: 'there is no way to the host',
  ETIMEDOUT: 'the host does not answer',
  CLIENT_HTTP_UNEXPECTED_CONTENT: NO_ENDPOINT,
  ENOENT: 'there is no such program, or no such folder to start it in: look at its name and its path',
  EACCES: 'it may not be started: it is a folder, or is not marked as a program',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself; NODE_EXTRA_CA_CERTS names a file to trust',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified; NODE_EXTRA_CA_CERTS names a file to trust',
};

/** The innermost reason that is known. */
function causeOf(error: Error): string | undefined {
  let found: string | undefined;
  let current: unknown = error;
  for (let depth = 0; depth < MAX_DEPTH && typeof current === 'object' && current !== null; depth++) {
    const { code, status, errors, cause, data } = current as Readonly<Record<string, unknown>>;
    if (current instanceof ConnectionFault && current.message !== '' && !error.message.includes(current.message))
      found = safe(current.message.replace(/^(The|It) /, (word) => word.toLowerCase()));
    if (current instanceof SyntaxError) found = NO_ENDPOINT;
    // What `fetch` says of ports that browsers keep away from.
    if (current instanceof Error && current.message === 'bad port') found = 'nothing on the web may use that port';
    if (typeof code === 'string' && REASONS[code] !== undefined) found = REASONS[code];
    const answered = status ?? (data as { readonly status?: unknown } | undefined)?.status;
    if (typeof answered === 'number')
      found = `it answers with the HTTP status ${answered}${answered === 404 ? HINT : ''}`;
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return found;
}

/** Lines of a program that are shown when it does not answer. */
const MAX_LINES = 3;

function lastLines(said: string): string {
  // A program that ends at once is started a second time, in the older era, and says the same again.
  const lines = new Set(said.split('\n').map((line) => safe(line.trim())));
  return [...lines]
    .filter((line) => line !== '')
    .slice(-MAX_LINES)
    .join(' / ')
    .slice(-500);
}
