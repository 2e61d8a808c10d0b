/**
 * The one family of errors. They are made where the cause is known and mapped to the wire by `toWireError` only,
 * so that no path, stack or secret can leave the process: a message is written for the peer, a `cause` for the log.
 */
import { isData } from '../protocol/data.ts';
import type { Era } from '../protocol/era.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, LEGACY_RESOURCE_NOT_FOUND } from '../protocol/error-codes.ts';
import { stripControls } from './text/scrub.ts';

export type ResourceErrorCode =
  /** The resource does not exist, or the caller must not learn that it exists. */
  | 'not-found'
  /** It exists and has no children to list. */
  | 'not-listable'
  /** It exists and the caller may not do this. */
  | 'denied'
  /** The content is over a size limit. */
  | 'too-large'
  | 'timeout'
  /** A count or rate limit is used up; the same request may work later. */
  | 'limited'
  /** The request itself is wrong: a malformed URI, a foreign cursor. */
  | 'invalid'
  /** The place where the data lives does not answer now. */
  | 'unavailable'
  | 'internal';

export interface ResourceErrorOptions {
  readonly uri?: string | undefined;
  readonly cause?: unknown;
  /** Facts for the peer beside the URI, such as a limit in bytes. Must be safe to send. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** `false` if the request may have been carried out, so that a second one could do it twice. Default: by the code. */
  readonly retryable?: false | undefined;
}

const RETRYABLE: ReadonlySet<ResourceErrorCode> = new Set(['timeout', 'limited', 'unavailable']);

/** Marks the errors of every copy of Vitrine in a process: a plug-in package may have its own. */
const MARK = Symbol.for('vitrine.ResourceError');

export class ResourceError extends Error {
  readonly code: ResourceErrorCode;
  readonly uri: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  /** Whether the same request may succeed later without a change, and can be made again without harm. */
  readonly retryable: boolean;

  /** @param message for the peer: what is wrong and how to do better. Never a host path or a secret. */
  constructor(code: ResourceErrorCode, message: string, options: ResourceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ResourceError';
    this.code = code;
    this.uri = options.uri;
    this.details = options.details ?? {};
    this.retryable = options.retryable ?? RETRYABLE.has(code);
  }

  /** Returns the same error for a request that may have been carried out nevertheless. */
  afterwards(): ResourceError {
    const message = `${this.message}; what was asked for may have been done all the same`;
    return new ResourceError(this.code, message, { ...this.#options, retryable: false });
  }

  get #options(): ResourceErrorOptions {
    const { uri, cause, details, retryable } = this;
    return { uri, cause, details, retryable: retryable ? undefined : false };
  }

  /** Returns the same error about another URI: the one that the caller sent, or that a mount publishes. */
  withUri(uri: string): ResourceError {
    return new ResourceError(this.code, this.message, { ...this.#options, uri });
  }

  /** Returns the same error with its cause, for the log. */
  withCause(cause: unknown): ResourceError {
    return new ResourceError(this.code, this.message, { ...this.#options, cause });
  }
}

Object.defineProperty(ResourceError.prototype, MARK, { value: true });
Object.defineProperty(ResourceError, Symbol.hasInstance, {
  value(this: unknown, error: unknown): boolean {
    // Subclasses inherit the function, but are told apart by their own prototypes.
    if (this !== ResourceError) return Function.prototype[Symbol.hasInstance].call(this, error);
    return error instanceof Error && MARK in error;
  },
});

/**
 * An error of another server that is sent on with its code, message and data. If it says that a resource is missing, `wire.code`
 * is `-32002`, whichever era that server speaks, and `toWireError` replaces it by the code of the client's era.
 */
export class PeerError extends ResourceError {
  readonly wire: WireError;

  constructor(wire: WireError, uri?: string, cause?: unknown) {
    super(wire.code === LEGACY_RESOURCE_NOT_FOUND ? 'not-found' : 'invalid', wire.message, { uri, cause });
    this.wire = wire;
  }

  override withCause(cause: unknown): PeerError {
    return new PeerError(this.wire, this.uri, cause);
  }

  override withUri(uri: string): PeerError {
    const { data } = this.wire;
    const renamed = data !== undefined && typeof data.uri === 'string' ? { data: { ...data, uri } } : {};
    return new PeerError({ ...this.wire, ...renamed }, uri, this.cause);
  }
}

export const notFound = (uri: string, cause?: unknown): ResourceError =>
  new ResourceError('not-found', 'Resource not found', { uri, cause });

export const notListable = (uri: string): ResourceError =>
  new ResourceError('not-listable', 'Resource has no children to list; read it instead', { uri });

export const invalid = (message: string, uri?: string): ResourceError => new ResourceError('invalid', message, { uri });

/** A JSON-RPC error object. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Maps any thrown value to what a peer may see. A value that is not a `ResourceError` becomes a bare internal error with
 * the request id, under which the log has the rest. The code for a missing resource depends on the era. It is the same for
 * hidden resources, or it would tell them apart from missing ones.
 */
export function toWireError(error: unknown, requestId?: string, era: Era = 'modern'): WireError {
  if (error instanceof PeerError) return peerWireError(error, era);
  if (!(error instanceof ResourceError)) {
    return {
      code: INTERNAL_ERROR,
      message: 'Internal error; the server log has the cause under this request id',
      ...(requestId !== undefined && { data: { requestId } }),
    };
  }
  return {
    code: wireCode(error.code, era),
    message: stripControls(error.message),
    data: {
      ...(error.uri !== undefined && { uri: error.uri }),
      reason: error.code,
      ...(error.retryable && { retryable: true }),
      ...error.details,
    },
  };
}

/** Returns the error as it came, except that a missing resource gets the code of the era. */
function peerWireError({ wire, uri }: PeerError, era: Era): WireError {
  if (wire.code !== LEGACY_RESOURCE_NOT_FOUND) return wire;
  const missing = { ...wire, code: missingCode(era) };
  // Another server's data may be any JSON.
  if (wire.data !== undefined && !isData(wire.data)) return missing;
  return { ...missing, data: { ...(uri !== undefined && { uri }), ...wire.data } };
}

const missingCode = (era: Era): number => (era === 'legacy' ? LEGACY_RESOURCE_NOT_FOUND : INVALID_PARAMS);

function wireCode(code: ResourceErrorCode, era: Era): number {
  switch (code) {
    case 'not-found':
      return missingCode(era);
    case 'not-listable':
    case 'denied':
    case 'too-large':
    case 'invalid':
      return INVALID_PARAMS;
    case 'timeout':
    case 'limited':
    case 'unavailable':
    case 'internal':
      return INTERNAL_ERROR;
  }
}
