/**
 * Requests on standard input that the SDK cannot read. It drops them, so that whoever asked would wait for ever: what is
 * wrong with them is said here, under their id.
 */
import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';

/** Bytes of a line that is looked at; the SDK takes no longer ones. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;

const LINE_FEED = 0x0a;

/** The chunk in pieces of which each ends with a line, but for the last. */
export function* linesOf(chunk: Buffer): Iterable<Buffer> {
  let from = 0;
  for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
    yield chunk.subarray(from, at + 1);
    from = at + 1;
  }
  if (from < chunk.length) yield chunk.subarray(from);
}

/** The line that `input`, which comes in the pieces of `linesOf`, has just given. To be called before it is read. */
export function latestLine(input: Readable): () => string {
  let pieces: Buffer[] = [];
  let size = 0;
  const take = (piece: Buffer): void => {
    if (pieces.at(-1)?.at(-1) === LINE_FEED || size > MAX_LINE_BYTES) {
      pieces = [];
      size = 0;
    }
    pieces.push(piece);
    size += piece.length;
  };
  // Not by the stream's own method, which would begin to read: nobody else listens yet.
  EventEmitter.prototype.on.call(input, 'data', take);
  return () => Buffer.concat(pieces).toString('utf8');
}

/** What answers a line that could not be read; undefined for what is no request. */
export function answerToUnread(line: string): JSONRPCMessage | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isObject(message) || !('method' in message)) return undefined;
  const { id, params = {} } = message;
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  return { jsonrpc: '2.0', id, error: problemOf(params) };
}

function problemOf(params: unknown): { readonly code: number; readonly message: string } {
  if (!isObject(params)) return { code: -32_602, message: 'params must be an object' };
  const { _meta = {} } = params;
  if (!isObject(_meta)) return { code: -32_602, message: 'params._meta must be an object' };
  return { code: -32_600, message: 'The message is not a valid request' };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
