/** HTTP as far as it is looked at here, whatever brings it: what is asked, and what is answered. */
import type { LongAnswer } from '../dispatch/answer.ts';
import type { EventStream } from './events.ts';

/** A request; a web `Request` has all of it but `abort`. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Pick<Headers, 'get' | 'has'>;
  /** Aborted when the client has gone, and when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Lets go of its headers and its body, which nobody looks at any more: its answer is a stream that stays open. */
  forget?(): void;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | LongAnswer | EventStream | undefined;
  /** Told once, when it has been sent or its client has gone. */
  readonly sent?: (() => void) | undefined;
}

/** Bytes that are made as they are taken. */
export class ByteStream {
  /** Each piece is there until the next one is asked for. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Bytes of all pieces; undefined where nobody knows. */
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

/** The client has gone, or the server ends: nobody reads this. */
export const GONE: HttpAnswer = { status: 499 };
