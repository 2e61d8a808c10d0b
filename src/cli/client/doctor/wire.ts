/**
 * The types and texts of messages on the wire. The doctor does not use the client library, which tolerates many faults that the
 * doctor looks for, and cannot send wrong messages.
 */

import { VERSION } from '../../../core/version.ts';
import { type Data, isData } from '../../../protocol/data.ts';

/** `legacy` is the 2025 era of Vitrine's glossary, `modern` the 2026 era. */
export type Era = 'legacy' | 'modern';

/** The outcome of a request. */
export type Answer =
  | { readonly kind: 'result'; readonly result: Data }
  | { readonly kind: 'error'; readonly error: RpcError }
  /** There was no answer. @property why tells people the reason */
  | { readonly kind: 'none'; readonly why: string };

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface AskOptions {
  /** The id of the request. Default: the next number. */
  readonly id?: string | number | undefined;
  /** Milliseconds for the answer. Default: the time limit of the wire. */
  readonly timeoutMs?: number | undefined;
  /** The members of `_meta`, in place of those that the era requires. */
  readonly meta?: Data | undefined;
}

/** A notification of the server. */
export interface Notice {
  readonly method: string;
  readonly params: Data;
}

/** One connection, in one era. */
export interface Wire {
  readonly era: Era;
  readonly transport: 'stdio' | 'http';
  /** Sends a request. Never rejects. */
  ask(method: string, params?: unknown, options?: AskOptions): Promise<Answer>;
  notify(method: string, params?: Data): Promise<void>;
  /** Opens `subscriptions/listen`, waits until it is acknowledged, and ends it. */
  listen(params: Data): Promise<Answer>;
  close(): Promise<void>;
}

export const LEGACY_VERSION = '2025-11-25';
export const MODERN_VERSION = '2026-07-28';

const CLIENT_INFO = { name: 'vitrine-doctor', version: VERSION };

/** The members of `_meta` that each request of the 2026 era has. */
export const ENVELOPE: Data = {
  'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
  'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The parameters of `initialize` in the 2025 era. */
export const INITIALIZE: Data = { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo: CLIENT_INFO };

/** The notification that acknowledges `subscriptions/listen`. */
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** The most bytes of one message of a server. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Adds to parameters the `_meta` of an era. Parameters that are no object stay as they are. */
export function inEra(era: Era, params: unknown, meta: Data | undefined): unknown {
  if (params !== undefined && !isData(params)) return params;
  if (era === 'legacy') return meta === undefined ? params : { ...params, _meta: meta };
  return { ...params, _meta: meta ?? ENVELOPE };
}

/** Reads a message as an answer; undefined if it is a request or a notification. */
export function answerIn(message: Data): Answer | undefined {
  if (isData(message.result)) return { kind: 'result', result: message.result };
  const { error } = message;
  if (!isData(error)) return 'method' in message ? undefined : none('It is neither a result nor an error');
  if (typeof error.code !== 'number') return none('Its error has no code');
  return {
    kind: 'error',
    error: { code: error.code, message: String(error.message ?? ''), data: error.data },
  };
}

/** Makes the outcome of a request without an answer. */
export const none = (why: string): Answer => ({ kind: 'none', why });

/** Returns the answer to a request of the server: an error, except for a ping, as the doctor declares no capabilities. */
export const answerTo = (id: unknown, method: unknown): Data =>
  method === 'ping'
    ? { jsonrpc: '2.0', id, result: {} }
    : { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } };

/** Describes an answer in few words. */
export function answerText(answer: Answer): string {
  if (answer.kind === 'none') return answer.why;
  if (answer.kind === 'error') return `error ${answer.error.code} "${answer.error.message.slice(0, 120)}"`;
  return `a result with ${Object.keys(answer.result).join(', ') || 'nothing in it'}`;
}
