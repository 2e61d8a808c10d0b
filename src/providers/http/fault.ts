/** From what the web answers, or a connection fails with, to what a peer may know: no address, query or header is in it. */
import { notFound, ResourceError } from '../../core/errors.ts';
import { ForbiddenAddressError } from './connections.ts';

const unavailable = (message: string, uri: string, cause: unknown): ResourceError =>
  new ResourceError('unavailable', message, { uri, cause });

const NOT_THERE: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME']);
const REFUSED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);
const CERTIFICATE = /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_SSL_)/;

/** An error of a connection. @throws never */
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

/** Of the addresses of a name that were tried, one was refused: the error of the attempts is about all of them. */
function innermost(error: unknown): unknown {
  return error instanceof AggregateError ? (error.errors[0] ?? error) : error;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** The longest that a server may have somebody wait, as it is told, in milliseconds. */
const MAX_RETRY_MS = 60 * 60 * 1_000;

/**
 * The error of an answer that is none of 200, 206, 304 and 416.
 * @param retryAfter the header of that name
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
