/** What went wrong with an upstream, for the client that waits: the server's own error, or that it cannot be reached. */
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { PeerError, ResourceError } from '../../../core/errors.ts';
import { OVER_LIMIT, overLimit } from './intake.ts';
import { UNANSWERED } from './unanswered.ts';
import { wholeData } from './whole-messages.ts';

/** @param name the mount, in words for the client; @param signal of the caller, whose own reasons stand */
export function faultOf(error: unknown, name: string, signal?: AbortSignal): unknown {
  if (error instanceof ResourceError) return error;
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof ProtocolError && error.code === OVER_LIMIT) {
    return overLimit(name, (error.data as { readonly limit?: unknown } | undefined)?.limit);
  }
  if (error instanceof ProtocolError && error.code !== UNANSWERED) {
    const { code, message } = error;
    const data = wholeData(error.data);
    // Any JSON may be the data of an error; it is handed on, and looked into only where it is an object.
    const given = data === undefined || data === null ? {} : { data: data as Readonly<Record<string, unknown>> };
    return new PeerError({ code, message, ...given });
  }
  if (isRefusal(error)) {
    return new ResourceError('unavailable', `The server behind "${name}" does not let Vitrine in`, { cause: error });
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return new ResourceError('timeout', `The server behind "${name}" did not answer in time`, { cause: error });
  }
  if ((error instanceof SdkError && GARBLED.has(error.code)) || isNoJson(error)) {
    return new ResourceError('internal', `The server behind "${name}" gave an answer that is not valid`, {
      cause: error,
    });
  }
  return new ResourceError('unavailable', `The server behind "${name}" cannot be reached now`, { cause: error });
}

const GARBLED: ReadonlySet<string> = new Set([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.ClientHttpUnexpectedContent,
]);

/** What is no JSON, or JSON that is no message. */
const isNoJson = (error: unknown): boolean =>
  error instanceof SyntaxError || (error instanceof Error && error.name === 'ZodError');

/** No token, one that is not taken, or one with too small a scope. */
const isRefusal = (error: unknown): boolean =>
  error instanceof UnauthorizedError ||
  error instanceof InsufficientScopeError ||
  isHttp(error, 401) ||
  isHttp(error, 403);

const isHttp = (error: unknown, status: number): boolean => error instanceof SdkHttpError && error.status === status;

/** Whether nothing will come over this connection any more: its process, its server or its session is gone. */
export function endsConnection(error: unknown): boolean {
  if (error instanceof ProtocolError) return false;
  if (error instanceof ResourceError) return error.code === 'unavailable';
  if (error instanceof SdkHttpError) return error.status === 404 || error.status === 400;
  if (error instanceof SdkError) return ENDED.has(error.code);
  // The fetch failed, or the pipe is broken. What a caller gave up has a number for a code, and ends nothing.
  return error instanceof TypeError || (error instanceof Error && 'code' in error && typeof error.code === 'string');
}

const ENDED: ReadonlySet<string> = new Set([
  SdkErrorCode.NotConnected,
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.SendFailed,
]);
