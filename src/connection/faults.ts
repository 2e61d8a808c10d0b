/**
 * Classifies how a connection to a server, or a request over it, failed. The caller writes the message: a client for
 * its user, a gateway for the clients of its mounts.
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

/** The limits of one message. */
export type MessageLimit = 'bytes' | keyof JsonLimits;

export type FaultKind =
  /** The server answered with an error: `answer` has it. */
  | 'answered'
  /** The answer goes over the limit that `limit` names. It was thrown away. */
  | 'too-large'
  /** The server went over a limit, and this side reads nothing more from it. The message says what the server did. */
  | 'cut-off'
  /** The server refuses access: the token is missing, refused, or lacks a scope. */
  | 'refused'
  /** No answer in time. */
  | 'late'
  /** The stream on which the answer was to come ended without it. */
  | 'unanswered'
  /** The answer violates the protocol. */
  | 'garbled'
  /** The negotiated revision, or the server, does not have the method. */
  | 'unsupported'
  /** The connection has ended: its program, server or session is gone. */
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

  /** @param message says what was observed, if that is more than the kind; otherwise empty */
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

/** Codes of errors that replace an incoming answer on this side. They never go over the wire. */
export const UNANSWERED = -31_999;
export const OVER_LIMIT = -31_998;

/** @param era of the connection; undefined while connecting */
export function faultOf(error: unknown, era?: Era): ConnectionFault {
  if (error instanceof ConnectionFault) return error;
  if (error instanceof ProtocolError) return answered(error, error);
  if (isRefusal(error)) return new ConnectionFault('refused', '', { cause: error });
  if (error instanceof SdkHttpError) {
    const answer = answerIn(error.data);
    if (error.status === 400 && NO_METHOD.test(textIn(error.data))) {
      return answered({ code: METHOD_NOT_FOUND, message: 'Method not found' }, error);
    }
    // A server of the 2025 era reports an unknown session in this way. The 2026 era has no sessions.
    const gone = (error.status === 404 || error.status === 400) && (era === 'legacy' || answer === undefined);
    if (gone) return new ConnectionFault('ended', '', { cause: error });
    // An error of the protocol may have its own HTTP status, such as 404 for an unknown method in the 2026 era.
    if (answer !== undefined && error.status < 429) return answered(answer, error);
    return new ConnectionFault('unreachable', '', { ...(answer !== undefined && { answer }), cause: error });
  }
  return new ConnectionFault(kindOf(error), '', { cause: error });
}

/** Servers of the Go SDK refuse an unknown method of the 2025 era in this way. Their session continues. */
const NO_METHOD = /^JSON RPC (?:not handled|method not found)\b/;

/** Whether the connection has ended. */
export const endsConnection = (error: unknown, era: Era): boolean => {
  const { kind } = faultOf(error, era);
  return kind === 'ended' || kind === 'cut-off';
};

/** Whether a server may have carried out a request although there is no answer. */
export function mayHaveActed(error: unknown, era: Era): boolean {
  const { kind, cause } = faultOf(error, era);
  if (kind === 'late' || kind === 'unanswered') return true;
  if (kind !== 'ended' && kind !== 'unreachable') return false;
  // Below 500, and with 503, the server refused. With other statuses a proxy may have answered after the server had accepted.
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

/** The body of the response that refuses a request. */
function textIn(data: unknown): string {
  const text = (data as { readonly text?: unknown } | undefined)?.text;
  return typeof text === 'string' ? text : '';
}

/** The JSON-RPC error in the body of the response that refuses a request. */
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
  // The answer is not JSON, or is JSON but not a message.
  if (error instanceof SyntaxError || error.name === 'ZodError') return 'garbled';
  // The fetch failed, or the pipe broke. Where a caller gave up, the code is a number, and the connection stays.
  const broken = error instanceof TypeError || ('code' in error && typeof error.code === 'string');
  return broken || error.message === 'Not connected' ? 'ended' : 'unreachable';
}
