/** Turns errors of PostgreSQL into errors for a peer, by their codes; the server's texts stay private. */
import { ResourceError } from '../../../core/errors.ts';
import { networkFault } from '../server-url.ts';
import { tookTooLong } from '../stoppable.ts';

interface DatabaseError {
  readonly code?: unknown;
  readonly severity?: unknown;
  readonly message?: unknown;
}

/** Messages of the library about a lost or failed connection, which have no code. */
const NO_CONNECTION = /^(?:Connection terminated|Client was closed|Client has encountered|timeout e|Cannot use a pool)/;

/** Whether the connection was lost, so that the same statement may work over another one. */
export function isLostConnection(error: unknown): boolean {
  const { code, message, severity } = error as DatabaseError;
  if (typeof code === 'string' && severity !== undefined) return /^(?:08(?!P01)|57P0[1-35])/.test(code);
  return networkFault(code) !== undefined || NO_CONNECTION.test(String(message));
}

/** Makes an error fit for the log: removes the connection, which the library attaches to it, and which has the password. */
export function withoutClient(error: unknown): unknown {
  if (error instanceof Error && 'client' in error) delete error.client;
  return error;
}

/** @param timeoutMs how long the statement was allowed to run; undefined if Vitrine set no limit */
export function postgresError(error: unknown, timeoutMs: number | undefined): ResourceError {
  if (error instanceof ResourceError) return error;
  const { code, severity, message } = error as DatabaseError;
  const options = { cause: withoutClient(error) };
  if (typeof code === 'string' && severity !== undefined) return serverError(code, timeoutMs, options);
  const fault = networkFault(code);
  if (fault !== undefined) return new ResourceError('unavailable', fault, options);
  const text = String(message);
  if (text.startsWith('The server does not support SSL')) {
    const why = 'The database server does not support encryption; add "sslmode=disable" to its URL to connect without';
    return new ResourceError('unavailable', why, options);
  }
  if (/password must be a string|no password/i.test(text)) {
    return new ResourceError('unavailable', 'The database requires a password, and its URL has none', options);
  }
  return NO_CONNECTION.test(text)
    ? new ResourceError('unavailable', 'The database does not answer', options)
    : new ResourceError('internal', 'The database could not be read', options);
}

/** Makes the error for a code of five characters, by its class (PostgreSQL, appendix A). */
function serverError(code: string, timeoutMs: number | undefined, options: { readonly cause: unknown }): ResourceError {
  switch (code) {
    case '57014':
      return timeoutMs === undefined
        ? new ResourceError('timeout', 'The database stopped the statement', options)
        : tookTooLong(timeoutMs, options.cause);
    case '25006':
      return new ResourceError('denied', 'The statement would write; databases are only read', options);
    case '42501':
      return new ResourceError('denied', 'The database does not allow its user to read this', options);
    case '42P01':
    case '42703':
    case '3F000':
      return new ResourceError('not-found', 'The database no longer has this table or column', options);
    case '3D000':
      return new ResourceError('unavailable', 'The server has no database of this name', options);
    case '08P01':
      return new ResourceError('internal', 'The statement needs other parameters than it gets', options);
    case '53300':
      return new ResourceError('unavailable', 'The database has no free connection', options);
  }
  if (code.startsWith('28')) {
    return new ResourceError('unavailable', 'The database refuses the user or the password of its URL', options);
  }
  if (/^(?:08|53|57P|58)/.test(code)) return new ResourceError('unavailable', 'The database does not answer', options);
  if (code.startsWith('22')) return new ResourceError('invalid', 'The database cannot take this value here', options);
  if (/^(?:0A|42)/.test(code)) {
    return new ResourceError('internal', 'The database rejects this statement: it must be a single SELECT', options);
  }
  return new ResourceError('internal', 'The database could not be read', options);
}

/** Codes of refusals by the server, and of mistakes in the configuration: a retry does not help. */
const LASTING = /^(?:28|3D|CERT|SELF_SIGNED|UNABLE_TO_|DEPTH_ZERO|ERR_TLS)/;

/** Returns the error with which mounting fails; undefined for an error that may be gone at a later attempt. */
export function refusalOf(error: unknown): ResourceError | undefined {
  if (!(error instanceof ResourceError)) return undefined;
  const { code, message } = (error.cause ?? {}) as DatabaseError;
  const lasting =
    (typeof code === 'string' && LASTING.test(code)) || /does not support SSL|password/i.test(String(message));
  return lasting ? new ResourceError('invalid', error.message, { cause: error.cause }) : undefined;
}
