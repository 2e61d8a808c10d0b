/** Turns errors of MySQL and MariaDB into errors for a peer, by their numbers; the server's texts stay private. */
import { ResourceError } from '../../../core/errors.ts';
import { networkFault } from '../server-url.ts';
import { tookTooLong } from '../stoppable.ts';

interface DatabaseError {
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly message?: unknown;
}

/** Numbers of the errors with which the server ends a connection. */
const ENDED: ReadonlySet<unknown> = new Set([1053, 1152, 1158, 1159, 1160, 1161, 1927, 4031]);
const TIMED_OUT: ReadonlySet<unknown> = new Set([1317, 1969, 3024]);
const WRONG_VALUE: ReadonlySet<unknown> = new Set([1292, 1264, 1365, 1366, 1367, 1411, 1525, 1690, 3140, 3854]);
const DENIED: ReadonlySet<unknown> = new Set([1044, 1142, 1143, 1227, 1290, 1370]);
const REFUSED: ReadonlySet<unknown> = new Set([1045, 1130, 1698, 1862]);
const GONE: ReadonlySet<unknown> = new Set([1051, 1054, 1146, 1176]);

/** Whether the connection was lost, so that the same statement may work over another one. */
export function isLostConnection(error: unknown): boolean {
  const { code, errno } = error as DatabaseError;
  return code === 'PROTOCOL_CONNECTION_LOST' || ENDED.has(errno) || networkFault(code) !== undefined || isClosed(error);
}

const isClosed = (error: unknown): boolean =>
  /closed state|Connection is closed|Pool is closed/.test(String((error as DatabaseError).message));

/** @param timeoutMs how long the statement was allowed to run */
export function mysqlError(error: unknown, timeoutMs: number): ResourceError {
  if (error instanceof ResourceError) return error;
  const { code, errno } = error as DatabaseError;
  const options = { cause: error };
  if (TIMED_OUT.has(errno)) return tookTooLong(timeoutMs, error);
  if (errno === 1792) return new ResourceError('denied', 'The statement would write; databases are only read', options);
  if (DENIED.has(errno))
    return new ResourceError('denied', 'The database does not allow its user to read this', options);
  if (GONE.has(errno)) {
    return new ResourceError('not-found', 'The database no longer has this table or column', options);
  }
  if (WRONG_VALUE.has(errno)) return new ResourceError('invalid', 'The database cannot take this value here', options);
  if (REFUSED.has(errno)) {
    return new ResourceError('unavailable', 'The database refuses the user or the password of its URL', options);
  }
  if (errno === 1049) return new ResourceError('unavailable', 'The server has no database of this name', options);
  if (errno === 1040 || errno === 1203 || errno === 1226) {
    return new ResourceError('unavailable', 'The database has no free connection', options);
  }
  if (errno === 1064 || errno === 1295 || errno === 1235) {
    return new ResourceError('internal', 'The database rejects this statement: it must be a single SELECT', options);
  }
  if (errno === 1210) {
    return new ResourceError('internal', 'The statement needs other parameters than it gets', options);
  }
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') {
    const why = 'The database server does not support encryption; add "sslmode=disable" to its URL to connect without';
    return new ResourceError('unavailable', why, options);
  }
  const fault = networkFault(code === 'HANDSHAKE_SSL_ERROR' ? tlsCode(error) : code);
  if (fault !== undefined) return new ResourceError('unavailable', fault, options);
  return isLostConnection(error)
    ? new ResourceError('unavailable', 'The database does not answer', options)
    : new ResourceError('internal', 'The database could not be read', options);
}

/** Returns a code for an error of TLS, for which the library gives only a message. */
const tlsCode = (error: unknown): string =>
  /certificate|altnames/i.test(String((error as DatabaseError).message)) ? 'CERT' : 'ETLS';

/** Returns the error with which mounting fails; undefined for an error that may be gone at a later attempt. */
export function refusalOf(error: unknown): ResourceError | undefined {
  if (!(error instanceof ResourceError)) return undefined;
  const { code, errno } = (error.cause ?? {}) as DatabaseError;
  const lasting = REFUSED.has(errno) || errno === 1049 || errno === 1044 || /SSL|CERT|SELF_SIGNED/.test(String(code));
  return lasting ? new ResourceError('invalid', error.message, { cause: error.cause }) : undefined;
}
