/**
 * Finds out how a connection to a server, or a request over it, failed. The caller puts it into words of its own: a client
 * for its user, a gateway for the clients of its mounts.
 */
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { JsonLimits } from '../core/text/json-text.ts';
import { METHOD_NOT_FOUND } from '../protocol/error-codes.ts';
import type { Era } from './data.ts';
import { wholeData } from './whole-messages.ts';

/** Limits of one message. */
export type MessageLimit = 'bytes' | keyof JsonLimits;

export type FaultKind =
  /** The server answered with an error: `answer` has it. */
  | 'answered'
  /** The answer goes over the limit that `limit` names. It was thrown away. */
  | 'too-large'
  /** The server went over a limit, and this side reads nothing more from it. The message says what the server did. */
  | 'cut-off'
  /** The server does not let this side in: there is no token, or it refuses the token, or the token has too small a scope. */
  | 'refused'
  /** No answer in time. */
  | 'late'
  /** The stream on which the answer was to come ended without it. */
  | 'unanswered'
  /** The answer is not what the protocol says it is. */
  | 'garbled'
  /** The revision that is spoken, or the server, does not have the method. */
  | 'unsupported'
  /** Nothing comes over this connection any more: its program, its server or its session is gone. */
  | 'ended'
  /** Anything else: the next request may be answered. Where the server refused over its own limits, `answer` has its error. */
  | 'unreachable';

/** An error of the server, as it sent it. */
export interface ServerError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export class ConnectionFault extends Error {
  readonly kind: FaultKind;
  readonly answer: ServerError | undefined;
  readonly limit: MessageLimit | undefined;

  /** @param message what was seen, where more is known than the kind says; else empty */
  constructor(
    kind: FaultKind,
    message = '',
    more: { readonly answer?: ServerError; readonly limit?: MessageLimit | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'ConnectionFault';
    this.kind = kind;
    this.answer = more.answer;
    this.limit = more.limit;
  }
}

/** Codes of errors that this side puts in the place of an incoming answer. They never go over the wire, in either direction. */
export const UNANSWERED = -31_999;
export const OVER_LIMIT = -31_998;

/** @param era of the connection; undefined while it is being made */
export function faultOf(error: unknown, era?: Era): ConnectionFault {
  if (error instanceof ConnectionFault) return error;
  if (error instanceof ProtocolError) return answered(error, error);
  if (isRefusal(error)) return new ConnectionFault('refused', '', { cause: error });
  if (error instanceof SdkHttpError) {
    const answer = answerIn(error.data);
    if (error.status === 400 && NO_METHOD.test(textIn(error.data))) {
      return answered({ code: METHOD_NOT_FOUND, message: 'Method not found' }, error);
    }
    // How a server of the 2025 era says that it knows no such session. In the 2026 era there is none.
    const gone = (error.status === 404 || error.status === 400) && (era === 'legacy' || answer === undefined);
    if (gone) return new ConnectionFault('ended', '', { cause: error });
    // An error of the protocol may come with a status of its own, as 404 with an unknown method in the 2026 era.
    if (answer !== undefined && error.status < 429) return answered(answer, error);
    return new ConnectionFault('unreachable', '', { ...(answer !== undefined && { answer }), cause: error });
  }
  return new ConnectionFault(kindOf(error), '', { cause: error });
}

/** How servers of the Go SDK refuse a request of the 2025 era for a method that they do not have. Their session goes on. */
const NO_METHOD = /^JSON RPC (?:not handled|method not found)\b/;

/** Whether nothing comes over the connection any more. */
export const endsConnection = (error: unknown, era: Era): boolean => {
  const { kind } = faultOf(error, era);
  return kind === 'ended' || kind === 'cut-off';
};

/** Whether a server that was sent a request may have done what it asks for, though there is no answer. */
export function mayHaveActed(error: unknown, era: Era): boolean {
  const { kind, cause } = faultOf(error, era);
  if (kind === 'late' || kind === 'unanswered') return true;
  if (kind !== 'ended' && kind !== 'unreachable') return false;
  // Below 500, and with 503, the server refused. With others a proxy may have refused what the server had already taken.
  if (cause instanceof SdkHttpError) return cause.status !== undefined && cause.status >= 500 && cause.status !== 503;
  return !neverSent(cause);
}

/** Codes of errors where there never was a connection. */
const NEVER_SENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  SdkErrorCode.NotConnected,
]);

function neverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && NEVER_SENT.has(error.code)) || neverSent(error.cause);
}

/** Whether the transport has given up reopening its stream of notifications. */
export const isGivenUp = ({ message }: Error): boolean => message.startsWith('Maximum reconnection attempts');

function answered({ code, message, data }: ServerError, cause: unknown): ConnectionFault {
  if (code === UNANSWERED) return new ConnectionFault('unanswered', message, { cause });
  if (code === OVER_LIMIT) {
    return new ConnectionFault('too-large', '', { limit: (data as { readonly limit?: MessageLimit }).limit, cause });
  }
  const whole = wholeData(data);
  return new ConnectionFault('answered', message, {
    answer: { code, message, ...(whole !== undefined && whole !== null && { data: whole }) },
    cause,
  });
}

/** The body of a refused request. */
function textIn(data: unknown): string {
  const text = (data as { readonly text?: unknown } | undefined)?.text;
  return typeof text === 'string' ? text : '';
}

/** The JSON-RPC error in the body of a refused request. */
function answerIn(data: unknown): ServerError | undefined {
  const text = textIn(data);
  if (!text.startsWith('{')) return undefined;
  try {
    const { error } = JSON.parse(text) as { readonly error?: { code?: unknown; message?: unknown; data?: unknown } };
    if (typeof error?.code !== 'number') return undefined;
    return { code: error.code, message: String(error.message ?? ''), data: error.data };
  } catch {
    return undefined;
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof UnauthorizedError ||
  error instanceof InsufficientScopeError ||
  (error instanceof SdkHttpError && (error.status === 401 || error.status === 403));

const KINDS: Readonly<Partial<Record<SdkErrorCode, FaultKind>>> = {
  [SdkErrorCode.RequestTimeout]: 'late',
  [SdkErrorCode.InvalidResult]: 'garbled',
  [SdkErrorCode.UnsupportedResultType]: 'garbled',
  [SdkErrorCode.ClientHttpUnexpectedContent]: 'garbled',
  [SdkErrorCode.MethodNotSupportedByProtocolVersion]: 'unsupported',
  [SdkErrorCode.CapabilityNotSupported]: 'unsupported',
  [SdkErrorCode.NotConnected]: 'ended',
  [SdkErrorCode.ConnectionClosed]: 'ended',
  [SdkErrorCode.SendFailed]: 'ended',
};

function kindOf(error: unknown): FaultKind {
  if (error instanceof SdkError) return KINDS[error.code] ?? 'unreachable';
  if (!(error instanceof Error)) return 'unreachable';
  // The answer is no JSON, or JSON that is no message.
  if (error instanceof SyntaxError || error.name === 'ZodError') return 'garbled';
  // The fetch failed, or the pipe is broken. Where a caller gave up, the code is a number, and the connection goes on.
  const broken = error instanceof TypeError || ('code' in error && typeof error.code === 'string');
  return broken || error.message === 'Not connected' ? 'ended' : 'unreachable';
}
