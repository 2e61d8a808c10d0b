/** Handles requests and answers of Node.js, without web objects in between. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ENDPOINT } from '../defaults.ts';
import { LongAnswer } from '../dispatch/answer.ts';
import type { Door } from './door.ts';
import type { EndpointCore } from './endpoint.ts';
import { EventStream } from './events.ts';
import { ByteStream, type HttpAnswer, type HttpRequest, type PageAnswer, refusal } from './exchange.ts';
import type { Explorer } from './explorer/index.ts';
import { cut, cutUnread, promise, type Tell } from './slow-clients.ts';

/** A request of Node.js. Its signal is made on first use. */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly #incoming: IncomingMessage;
  #abort: AbortController | undefined;
  #gone: { readonly reason: unknown } | undefined;

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming;
    this.method = incoming.method ?? 'GET';
  }

  get url(): string {
    const { socket, url = '/' } = this.#incoming;
    return `${'encrypted' in socket ? 'https' : 'http'}://${this.get('host') ?? 'localhost'}${url}`;
  }

  get headers(): Pick<Headers, 'get' | 'has'> {
    return this;
  }

  /** Returns all values of a header, joined. */
  get(name: string): string | null {
    const { rawHeaders } = this.#incoming;
    const lower = name.toLowerCase();
    let found: string | null = null;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const each = rawHeaders[at] ?? '';
      if (each.length !== lower.length || each.toLowerCase() !== lower) continue;
      const value = rawHeaders[at + 1] ?? '';
      found = found === null ? value : `${found}, ${value}`;
    }
    return found;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#gone !== undefined) this.#abort.abort(this.#gone.reason);
    }
    return this.#abort.signal;
  }

  /** Returns the body of the request, or undefined as soon as the body has more than `limit` bytes. */
  body(limit: number): Promise<Uint8Array | undefined> {
    const incoming = this.#incoming;
    return new Promise((resolve, reject) => {
      if (Number(this.get('content-length') ?? 0) > limit) return resolve(undefined);
      const chunks: Buffer[] = [];
      let size = 0;
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.byteLength;
        if (size > limit) {
          incoming.pause();
          incoming.removeAllListeners('data');
          resolve(undefined);
        } else {
          chunks.push(chunk);
        }
      });
      incoming.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size)));
      incoming.on('error', reject);
      incoming.on('close', () => {
        // After a normal end, the promise is settled already.
        if (!incoming.readableEnded) reject(new Error('The request broke off'));
      });
    });
  }

  forget(): void {
    const incoming = this.#incoming;
    incoming.headers = {};
    incoming.headersDistinct = {};
    incoming.rawHeaders = [];
    // Removes the listeners that read the body.
    for (const event of ['data', 'end', 'error', 'close']) incoming.removeAllListeners(event);
  }

  abort(reason?: unknown): void {
    this.#gone ??= { reason };
    this.#abort?.abort(reason);
  }
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

export interface HandlerOptions {
  readonly core: EndpointCore;
  /** Returns headers that let pages of other origins read an answer; undefined where none may. */
  readonly cors: ((asked: IncomingMessage['headers']) => Readonly<Record<string, string>>) | undefined;
  /** Undefined where the server has no explorer. */
  readonly explorer?: Explorer | undefined;
  /** Checks each request first. Undefined where everybody may come in. */
  readonly door?: Door | undefined;
  /** Answers all requests that are neither plain requests to the endpoint nor for the explorer. */
  readonly others: Handle;
  readonly failed: (error: unknown) => void;
  readonly tell: Tell;
}

/** Answers the requests of all connections. */
export interface Handler {
  readonly handle: Handle;
  /** Whether the connection has sent a request. */
  hasAsked(socket: Socket): boolean;
}

export function createHandler({ core, cors, explorer, door, others, failed, tell }: HandlerOptions): Handler {
  const { maxPipelined, maxHeaders, maxUnreadBytes } = core.limits;
  /** The open answers of each connection. Arrays suit small numbers: a long-lived set would keep old entries in memory. */
  const unanswered = new WeakMap<Socket, ServerResponse[]>();

  function firstOn(socket: Socket): ServerResponse[] {
    const waiting: ServerResponse[] = [];
    unanswered.set(socket, waiting);
    // Node.js reports a closed connection only to the answer that is being written, not to those queued after it.
    socket.once('close', () => {
      for (const each of [...waiting]) if (each.socket === null) each.emit('close');
    });
    return waiting;
  }

  /** Answers with the endpoint or the explorer. @returns a function to call once the answer was sent or its client has gone */
  function answer(incoming: IncomingMessage, outgoing: ServerResponse, by?: Explorer): () => void {
    const request = new NodeRequest(incoming);
    // Computed now, because the request's headers are dropped while a stream is open.
    const more = by === undefined ? cors?.(incoming.headers) : undefined;
    let given: HttpAnswer | PageAnswer | undefined;
    let gone = false;
    const over = (): void => {
      gone = true;
      if (!outgoing.writableFinished) request.abort(new Error('The client has gone'));
      given?.sent?.();
      if (given?.body instanceof EventStream) given.body.leave();
    };
    const give = (answer: HttpAnswer | PageAnswer): void => {
      given = answer;
      if (gone || outgoing.closed || outgoing.destroyed) over();
      else send(answer, outgoing, more, maxUnreadBytes, () => cutUnread(incoming.socket, tell));
    };
    const { remoteAddress: from } = incoming.socket;
    const answering: Promise<HttpAnswer | PageAnswer> =
      by === undefined
        ? core.answer(explorer?.signedIn?.(request) ?? request, (limit) => request.body(limit), { from })
        : by.answer(request, from);
    answering.then(give, (error: unknown) => {
      // A client that has gone, or that sent its request too slowly, gets no answer.
      if (outgoing.destroyed || incoming.errored) return;
      failed(error);
      give(refusal(500, -32_603, 'Internal error'));
    });
    return over;
  }

  return {
    handle(incoming, outgoing) {
      const { socket, url = '', method } = incoming;
      const waiting = unanswered.get(socket) ?? firstOn(socket);
      if (waiting.length >= maxPipelined) {
        cut(socket);
        return;
      }
      let over: (() => void) | undefined;
      waiting.push(outgoing);
      outgoing.once('close', () => {
        waiting.splice(waiting.indexOf(outgoing), 1);
        over?.();
      });
      // Node.js itself has no limit here: it would not refuse further headers, but silently drop them.
      if (incoming.rawHeaders.length > 2 * maxHeaders) {
        outgoing.writeHead(431, { Connection: 'close', 'Content-Length': 0 }).end();
        return;
      }
      const stopped = door?.answer(incoming);
      if (stopped !== undefined) {
        send(stopped, outgoing, undefined, maxUnreadBytes, () => cutUnread(socket, tell));
        return;
      }
      const isEndpoint = url === ENDPOINT || url.startsWith(`${ENDPOINT}?`);
      if (isEndpoint && (cors === undefined || method !== 'OPTIONS')) over = answer(incoming, outgoing);
      else if (explorer?.serves(method, url)) over = answer(incoming, outgoing, explorer);
      else others(incoming, outgoing);
    },
    hasAsked: (socket) => unanswered.has(socket),
  };
}

function send(
  { status, headers, body }: HttpAnswer | PageAnswer,
  outgoing: ServerResponse,
  more: Readonly<Record<string, string>> | undefined,
  maxUnreadBytes: number,
  cut: () => void,
): void {
  const all = more === undefined ? headers : { ...headers, ...more };
  if (body === undefined) {
    outgoing.writeHead(status, all);
    outgoing.end();
    return;
  }
  if (typeof body === 'string') {
    const bytes = Buffer.byteLength(body);
    outgoing.writeHead(status, { ...all, 'Content-Length': bytes });
    // ASCII text has the same bytes in both encodings, and latin1 is faster.
    outgoing.end(body, bytes === body.length ? 'latin1' : 'utf8');
    return;
  }
  if (body instanceof LongAnswer || body instanceof ByteStream) {
    const [pieces, ahead] =
      body instanceof LongAnswer ? [body.lentPieces(), body.bytes] : [body.pieces, STREAM_AHEAD_BYTES];
    outgoing.writeHead(status, body.bytes === undefined ? all : { ...all, 'Content-Length': body.bytes });
    // Closing the connection early tells the client that the answer is incomplete.
    sendPieces(pieces, body.bytes, ahead, outgoing).catch(() => outgoing.destroy());
    return;
  }
  outgoing.writeHead(status, all);
  outgoing.flushHeaders();
  body.attach({
    write(text) {
      const waiting = outgoing.writableLength;
      if (waiting > 0 && waiting + Buffer.byteLength(text) > maxUnreadBytes) cut();
      else outgoing.write(text);
    },
    end: () => void outgoing.end(),
  });
}

/** Bytes of a stream that a client has to take within the time limit; a stream may have any length. */
const STREAM_AHEAD_BYTES = 1024 * 1024;

/**
 * Sends each piece once the client has taken the one before: the callback of a response is called when its socket has written.
 * @param ahead the most bytes that the client has to take within the time limit
 * @throws errors of the pieces, and an error if they do not have `bytes` bytes together
 */
async function sendPieces(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  bytes: number | undefined,
  ahead: number,
  outgoing: ServerResponse,
): Promise<void> {
  let left = bytes;
  /** Lets the loop continue. */
  let wake = (): void => {};
  let gone = false;
  outgoing.once('close', () => {
    gone = true;
    wake();
  });
  for await (const piece of pieces) {
    if (gone) return;
    if (left !== undefined) left -= piece.byteLength;
    // The client would take the rest for the beginning of its next answer.
    if (left !== undefined && left < 0) throw new Error('An answer has more bytes than it announced');
    if (outgoing.socket !== null && left !== undefined) promise(outgoing.socket, Math.min(ahead, left));
    await new Promise<void>((resolve) => {
      wake = resolve;
      outgoing.write(piece, () => resolve());
    });
    // The client has gone, and the memory of the remaining pieces was freed.
    if (gone) return;
  }
  if (left !== undefined && left !== 0) throw new Error('An answer has fewer bytes than it announced');
  outgoing.end();
}
