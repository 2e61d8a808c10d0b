/** Turns the status of an answer, or the failure of a connection, into an error. Its message has no address, query or header. */
import { notFound, ResourceError } from '../../core/errors.ts';
import { ForbiddenAddressError } from './connections.ts';

const unavailable = (message: string, uri: string, cause: unknown): ResourceError =>
  new ResourceError('unavailable', message, { uri, cause });

const NOT_THERE: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME']);
const REFUSED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);
const CERTIFICATE = /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_SSL_)/;

/** Returns the error for the failure of a connection. */
export function faultOf(error: unknown, uri: string): ResourceError {
  if (error instanceof ResourceError) return error;
  const cause = innermost(error);
  if (cause instanceof ForbiddenAddressError) {
    const message = 'The address of the web server is not a public one; allowPrivate allows others';
    return new ResourceError('denied', message, { uri, cause });
  }
  const code = codeOf(cause);
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return new ResourceError('timeout', 'The web server did not take the connection in time', { uri, cause });
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return unavailable('The web server sends too many headers', uri, cause);
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return unavailable('The web server sent another length than it said', uri, cause);
  if (NOT_THERE.has(code)) return unavailable('The host of the web server is not known', uri, cause);
  if (REFUSED.has(code)) return unavailable('The web server does not take connections', uri, cause);
  if (CERTIFICATE.test(code)) return unavailable('The certificate of the web server is not accepted', uri, cause);
  if (code.startsWith('HPE_')) return unavailable('The web server does not speak HTTP', uri, cause);
  return unavailable('The web server broke off; try again', uri, cause);
}

/** If a connection failed at several addresses of a host, returns the error of the first one. */
function innermost(error: unknown): unknown {
  return error instanceof AggregateError ? (error.errors[0] ?? error) : error;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** The most milliseconds of waiting that are passed on from a server to the client. */
const MAX_RETRY_MS = 60 * 60 * 1_000;

/**
 * Returns the error for the status of an answer that is no success.
 * @param retryAfter the header `Retry-After`
 */
export function faultOfStatus(status: number, uri: string, retryAfter?: string): ResourceError {
  const cause = new Error(`HTTP status ${status}`);
  const wait = waitMs(retryAfter);
  const details = wait === undefined ? {} : { retryAfterMs: wait };
  switch (status) {
    case 404:
    case 410:
      return notFound(uri, cause);
    case 401:
    case 403:
      return new ResourceError('denied', 'The web server does not let this server read it', { uri, cause });
    case 408:
    case 504:
      return new ResourceError('timeout', 'The web server ran out of time', { uri, cause, details });
    case 429:
      return new ResourceError('limited', 'The web server has had too many requests', { uri, cause, details });
    case 503:
      return new ResourceError('unavailable', 'The web server is busy; try again later', { uri, cause, details });
    default:
      return new ResourceError('unavailable', `The web server answers with status ${status}`, { uri, cause, details });
  }
}

function waitMs(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_RETRY_MS) : undefined;
}
