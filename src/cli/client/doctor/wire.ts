/**
 * Messages to a server as they are on the wire. The doctor has connections of its own, because the client library puts up
 * with much of what is to be found here, and sends nothing that is wrong.
 */

import { VERSION } from '../../../core/version.ts';
import { type Data, isData } from '../../../protocol/data.ts';

export type Era = 'legacy' | 'modern';

/** The outcome of a request. */
export type Answer =
  | { readonly kind: 'result'; readonly result: Data }
  | { readonly kind: 'error'; readonly error: RpcError }
  /** There was none. @property why for people */
  | { readonly kind: 'none'; readonly why: string };

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface AskOptions {
  /** Default: the next number. */
  readonly id?: string | number | undefined;
  /** Milliseconds. Default: that of the wire. */
  readonly timeoutMs?: number | undefined;
  /** Members of `_meta` instead of those that the era has. */
  readonly meta?: Data | undefined;
}

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

export const INITIALIZE: Data = { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo: CLIENT_INFO };

export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** The most bytes of one message of a server. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Parameters as an era has them. What is no object is sent as it is. */
export function inEra(era: Era, params: unknown, meta: Data | undefined): unknown {
  if (params !== undefined && !isData(params)) return params;
  if (era === 'legacy') return meta === undefined ? params : { ...params, _meta: meta };
  return { ...params, _meta: meta ?? ENVELOPE };
}

/** A message as an answer; undefined for what is none. */
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

export const none = (why: string): Answer => ({ kind: 'none', why });

/** How a server's own request is answered: this client declares nothing that it could do. */
export const answerTo = (id: unknown, method: unknown): Data =>
  method === 'ping'
    ? { jsonrpc: '2.0', id, result: {} }
    : { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } };

/** An answer in few words. */
export function told(answer: Answer): string {
  if (answer.kind === 'none') return answer.why;
  if (answer.kind === 'error') return `error ${answer.error.code} "${answer.error.message.slice(0, 120)}"`;
  return `a result with ${Object.keys(answer.result).join(', ') || 'nothing in it'}`;
}
