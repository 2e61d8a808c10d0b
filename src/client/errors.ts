/** The errors of this client: one family, made where the cause is known. */
import { faultOf, type ServerError } from '../connection/faults.ts';
import { seenIn } from '../connection/seen.ts';
import { isData } from '../protocol/data.ts';
import { INVALID_PARAMS, LEGACY_RESOURCE_NOT_FOUND, METHOD_NOT_FOUND } from '../protocol/error-codes.ts';

export type ClientErrorCode =
  /** The server has no such resource: code -32602 or -32002, depending on the era. */
  | 'not-found'
  /** The resource has no children to list. */
  | 'not-listable'
  /** The server refuses this request, or refuses this client. */
  | 'denied'
  /** The content exceeds `maxBytes`, or a limit of the server. It was not decoded. */
  | 'too-large'
  /** The resource has none of the formats in `accept`. `data.available` lists its formats. */
  | 'not-acceptable'
  /** The request itself is wrong: a malformed URI, a range past the end, an expired cursor. */
  | 'invalid'
  /** The server does not have this method, or cannot report changes of this resource. */
  | 'unsupported'
  /** No response came in time. */
  | 'timeout'
  /** The caller has used up a limit of the server. */
  | 'limited'
  /** The server cannot be reached. */
  | 'unavailable'
  /** The response violates the protocol. */
  | 'invalid-answer'
  /**
   * A file of a skill does not match the entry of the skill. `data` has `what` (`size`, `digest`, `frontmatter`,
   * `unlisted`), `expected` and `got`.
   */
  | 'mismatch'
  /** The server failed without a known reason. `rpcCode` and `data` are those of the server's error. */
  | 'failed'
  /** This client was closed. */
  | 'closed';

const RETRYABLE: ReadonlySet<ClientErrorCode> = new Set(['timeout', 'limited', 'unavailable']);

export interface ClientErrorOptions {
  readonly uri?: string | undefined;
  /** The JSON-RPC code of the server's error. */
  readonly rpcCode?: number | undefined;
  /** The `data` of the server's error, or facts about the failure. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/**
 * The error that every call of a resource client throws. An aborted call throws the signal's `reason` instead. The
 * message of a server's error comes from the server: show it only as text.
 */
export class ResourceClientError extends Error {
  readonly code: ClientErrorCode;
  /** The resource that the error is about, if any. */
  readonly uri: string | undefined;
  readonly rpcCode: number | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ClientErrorCode, message: string, options: ClientErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ResourceClientError';
    this.code = code;
    this.uri = options.uri;
    this.rpcCode = options.rpcCode;
    this.data = options.data;
  }

  /** Whether the same request may succeed later without a change. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }
}

/** The reasons that Vitrine's servers send in `data.reason`. */
const REASONS: ReadonlySet<string> = new Set<ClientErrorCode>([
  'not-found',
  'not-listable',
  'denied',
  'too-large',
  'timeout',
  'limited',
  'invalid',
  'unavailable',
]);

const isReason = (reason: unknown): reason is ClientErrorCode => typeof reason === 'string' && REASONS.has(reason);

/**
 * Converts any thrown value to an error of this family.
 * @param about the requested URI, and whether the request had a cursor, which the server may have refused
 */
export function clientError(
  error: unknown,
  about: { readonly uri?: string | undefined; readonly cursor?: boolean } = {},
): ResourceClientError {
  if (error instanceof ResourceClientError) return error;
  const { uri } = about;
  const fault = faultOf(error);
  // The message of a fault says what was observed. If it is empty, its cause says it.
  const options = { uri, cause: fault.message === '' ? (fault.cause ?? fault) : fault };
  if (fault.answer !== undefined) return answeredError(fault.answer, about, fault.cause);
  switch (fault.kind) {
    case 'too-large':
      return new ResourceClientError('too-large', 'The answer of the server is too large', options);
    case 'cut-off':
      return new ResourceClientError('unavailable', `The server was cut off, because it ${fault.message}`, options);
    case 'refused':
      return new ResourceClientError('denied', 'The server does not let this client in', options);
    case 'late':
      return new ResourceClientError('timeout', fault.message || 'The server did not answer in time', options);
    case 'unanswered':
      return new ResourceClientError('unavailable', 'The stream ended without an answer', options);
    case 'garbled':
      return new ResourceClientError('invalid-answer', 'The answer of the server is not valid', options);
    case 'unsupported':
      return new ResourceClientError('unsupported', 'The server does not have this method', options);
    case 'answered':
    case 'ended':
    case 'unreachable':
      return new ResourceClientError('unavailable', withSeen('The server cannot be reached', error), options);
  }
}

/** Adds to a message the server's behaviour that was observed, if any. */
export function withSeen(message: string, error: unknown): string {
  const seen = seenIn(error);
  return seen === undefined ? message : `${message}: ${seen}`;
}

function answeredError(
  { code, message, data: sent }: ServerError,
  about: { uri?: string | undefined; cursor?: boolean },
  cause: unknown,
): ResourceClientError {
  const data = isData(sent) ? sent : undefined;
  const options = { uri: about.uri, rpcCode: code, data, cause };
  return new ResourceClientError(codeOf(code, data, about), message, options);
}

function codeOf(
  code: number,
  data: Readonly<Record<string, unknown>> | undefined,
  { uri, cursor }: { uri?: string | undefined; cursor?: boolean },
): ClientErrorCode {
  if (code === METHOD_NOT_FOUND) return 'unsupported';
  if (isReason(data?.reason)) return data.reason;
  if (code === LEGACY_RESOURCE_NOT_FOUND) return 'not-found';
  // The request had only a URI, so the server rejects the URI. With a cursor the server may reject the cursor, unless
  // the error names the URI. The SDK converts -32002 to -32602, with the URI alone.
  if (code === INVALID_PARAMS)
    return uri !== undefined && (cursor !== true || data?.uri === uri) ? 'not-found' : 'invalid';
  return 'failed';
}

/** Whether the server lacks the method, so that a fallback applies (2093-11). */
export const isUnsupported = (error: unknown): boolean =>
  error instanceof ResourceClientError && error.code === 'unsupported';

export const invalidAnswer = (what: string, uri?: string): ResourceClientError =>
  new ResourceClientError('invalid-answer', what, { uri });

export const closedError = (): ResourceClientError => new ResourceClientError('closed', 'The client was closed');
