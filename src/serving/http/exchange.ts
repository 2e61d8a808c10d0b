/** The parts of an HTTP request and answer that the endpoint uses, independent of the HTTP server. */
import type { LongAnswer } from '../dispatch/answer.ts';
import type { EventStream } from './events.ts';

/** A request; a web `Request` has all of it except `abort`. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Pick<Headers, 'get' | 'has'>;
  /** Aborted when the client has gone, or when its answer is no longer needed. */
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Releases headers and body before a long stream, because they are no longer needed. */
  forget?(): void;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | LongAnswer | EventStream | undefined;
  /** Called once, when the answer has been sent or its client has gone. */
  readonly sent?: (() => void) | undefined;
}

/** Bytes that are produced on demand. */
export class ByteStream {
  /** Each piece is valid until the next one is requested. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** The bytes of all pieces; undefined where unknown. */
  readonly bytes: number | undefined;

  constructor(pieces: AsyncIterable<Uint8Array>, bytes: number | undefined) {
    this.pieces = pieces;
    this.bytes = bytes;
  }
}

/** An answer of the explorer. */
export interface PageAnswer extends Omit<HttpAnswer, 'body'> {
  readonly body?: string | ByteStream | undefined;
}

const JSON_TYPE = { 'Content-Type': 'application/json' } as const;

export const json = (status: number, value: object, headers?: HttpAnswer['headers']): HttpAnswer => ({
  status,
  headers: headers === undefined ? JSON_TYPE : { ...JSON_TYPE, ...headers },
  body: JSON.stringify(value),
});

/** A JSON-RPC error outside of any request. */
export const refusal = (
  status: number,
  code: number,
  message: string,
  headers?: Readonly<Record<string, string>>,
): HttpAnswer => json(status, { jsonrpc: '2.0', error: { code, message }, id: null }, headers);

/** An answer that nobody will read: the client has gone, or the server ends. */
export const GONE: HttpAnswer = { status: 499 };
