/** Turns errors of PostgreSQL into errors for a peer: by their codes, never with their words. */
import { ResourceError } from '../../../core/errors.ts';
import { networkFault } from '../server-url.ts';
import { tookTooLong } from '../stoppable.ts';

interface DatabaseError {
  readonly code?: unknown;
  readonly severity?: unknown;
  readonly message?: unknown;
}

/** Messages of the library about a connection that is gone or never came about; they have no code. */
const NO_CONNECTION = /^(?:Connection terminated|Client was closed|Client has encountered|timeout e|Cannot use a pool)/;

/** Whether the connection was lost, so that the same statement may work over another one. */
export function isLostConnection(error: unknown): boolean {
  const { code, message, severity } = error as DatabaseError;
  if (typeof code === 'string' && severity !== undefined) return /^(?:08(?!P01)|57P0[1-35])/.test(code);
  return networkFault(code) !== undefined || NO_CONNECTION.test(String(message));
}

/** Removes the connection that the library attaches to an error, since it has the password; for the log. */
export function withoutClient(error: unknown): unknown {
  if (error instanceof Error && 'client' in error) delete error.client;
  return error;
}

/** @param timeoutMs how long the statement was allowed to run */
export function postgresError(error: unknown, timeoutMs: number): ResourceError {
  if (error instanceof ResourceError) return error;
  const { code, severity, message } = error as DatabaseError;
  const options = { cause: withoutClient(error) };
  if (typeof code === 'string' && severity !== undefined) return serverError(code, timeoutMs, options);
  const fault = networkFault(code);
  if (fault !== undefined) return new ResourceError('unavailable', fault, options);
  const text = String(message);
  if (text.startsWith('The server does not support SSL')) {
    const why = 'The database server does not encrypt; "sslmode=disable" in its URL lets it be used as it is';
    return new ResourceError('unavailable', why, options);
  }
  if (/password must be a string|no password/i.test(text)) {
    return new ResourceError('unavailable', 'The database wants a password, and its URL has none', options);
  }
  return NO_CONNECTION.test(text)
    ? new ResourceError('unavailable', 'The database does not answer', options)
    : new ResourceError('internal', 'The database could not be read', options);
}

/** Makes the error for a code of five characters, by its class (PostgreSQL, appendix A). */
function serverError(code: string, timeoutMs: number, options: { readonly cause: unknown }): ResourceError {
  switch (code) {
    case '57014':
      return tookTooLong(timeoutMs, options.cause);
    case '25006':
      return new ResourceError('denied', 'The statement would write; databases are only read', options);
    case '42501':
      return new ResourceError('denied', 'The database does not let this be read', options);
    case '42P01':
    case '42703':
    case '3F000':
      return new ResourceError('not-found', 'The database does not have this table or column any more', options);
    case '3D000':
      return new ResourceError('unavailable', 'The server has no database of this name', options);
    case '08P01':
      return new ResourceError('internal', 'The statement wants other parameters than it gets', options);
    case '53300':
      return new ResourceError('unavailable', 'The database has no connection left', options);
  }
  if (code.startsWith('28')) {
    return new ResourceError('unavailable', 'The database refuses the user or the password of its URL', options);
  }
  if (/^(?:08|53|57P|58)/.test(code)) return new ResourceError('unavailable', 'The database does not answer', options);
  if (code.startsWith('22')) return new ResourceError('invalid', 'The database cannot take this value here', options);
  if (/^(?:0A|42)/.test(code)) {
    return new ResourceError('internal', 'The database does not take this statement: it has to be one SELECT', options);
  }
  return new ResourceError('internal', 'The database could not be read', options);
}

/** Codes of refusals by the server, and of mistakes in the configuration: waiting does not help. */
const LASTING = /^(?:28|3D|CERT|SELF_SIGNED|UNABLE_TO_|DEPTH_ZERO|ERR_TLS)/;

/** The error for whoever starts the server; undefined where waiting may help. */
export function refusalOf(error: unknown): ResourceError | undefined {
  if (!(error instanceof ResourceError)) return undefined;
  const { code, message } = (error.cause ?? {}) as DatabaseError;
  const lasting =
    (typeof code === 'string' && LASTING.test(code)) || /does not support SSL|password/i.test(String(message));
  return lasting ? new ResourceError('invalid', error.message, { cause: error.cause }) : undefined;
}
