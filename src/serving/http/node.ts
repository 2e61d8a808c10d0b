/** Requests and answers of Node.js, without web objects in between. */
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

/** A request as Node.js has it. Its signal is made when somebody wants it. */
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

  /** All that was sent under the name, as one. */
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

  /** Its body, or undefined when it has more than `limit` bytes; stops reading there. */
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
        // If it has ended, that was told before.
        if (!incoming.readableEnded) reject(new Error('The request broke off'));
      });
    });
  }

  forget(): void {
    const incoming = this.#incoming;
    incoming.headers = {};
    incoming.headersDistinct = {};
    incoming.rawHeaders = [];
    // Those that took its body.
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
  /** Headers that let pages of other origins read an answer; undefined where there are none that may. */
  readonly cors: ((asked: IncomingMessage['headers']) => Readonly<Record<string, string>>) | undefined;
  /** Undefined where there is none. */
  readonly explorer?: Explorer | undefined;
  /** Decides first who may come in. Undefined where everybody may. */
  readonly door?: Door | undefined;
  /** Answers all that is no plain request to the endpoint. */
  readonly others: Handle;
  readonly failed: (error: unknown) => void;
  readonly tell: Tell;
}

/** Answers the requests of all connections. */
export interface Handler {
  readonly handle: Handle;
  /** Whether a request came over the connection. */
  hasAsked(socket: Socket): boolean;
}

export function createHandler({ core, cors, explorer, door, others, failed, tell }: HandlerOptions): Handler {
  const { maxPipelined, maxHeaders, maxUnreadBytes } = core.limits;
  /** The answers that a connection waits for: few, so arrays. A set that lasts keeps what was in it until a major collection. */
  const unanswered = new WeakMap<Socket, ServerResponse[]>();

  function firstOn(socket: Socket): ServerResponse[] {
    const waiting: ServerResponse[] = [];
    unanswered.set(socket, waiting);
    // Node.js tells the answer that is on its way, and not those behind it, that nobody is there any more.
    socket.once('close', () => {
      for (const each of [...waiting]) if (each.socket === null) each.emit('close');
    });
    return waiting;
  }

  /** Answers with the endpoint, or the explorer. @returns told once when the answer has been sent, or its client has gone */
  function answer(incoming: IncomingMessage, outgoing: ServerResponse, by?: Explorer): () => void {
    const request = new NodeRequest(incoming);
    // Asked now: while a stream is open, the headers of its request are forgotten.
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
        ? core.answer(explorer?.asked(request) ?? request, (limit) => request.body(limit), { from })
        : by.answer(request, from);
    answering.then(give, (error: unknown) => {
      // Who has gone, or took too long to say what it wants, gets no answer.
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
      // Node.js would leave out the rest, and nobody would know what was in it.
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
      if (explorer?.serves(method, url)) over = answer(incoming, outgoing, explorer);
      else if (!isEndpoint || (cors !== undefined && method === 'OPTIONS')) others(incoming, outgoing);
      else over = answer(incoming, outgoing);
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
    // A text of ASCII is the same in both, and written faster in this one.
    outgoing.end(body, bytes === body.length ? 'latin1' : 'utf8');
    return;
  }
  if (body instanceof LongAnswer || body instanceof ByteStream) {
    const [pieces, ahead] =
      body instanceof LongAnswer ? [body.pieces(), body.bytes] : [body.pieces, STREAM_AHEAD_BYTES];
    outgoing.writeHead(status, body.bytes === undefined ? all : { ...all, 'Content-Length': body.bytes });
    // Who gets it sees by the connection, which ends too soon, that it is not all.
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

/** Bytes of a stream that a client has to take in the time that answers may wait: it may be of any length, so not all of it. */
const STREAM_AHEAD_BYTES = 1024 * 1024;

/**
 * Sends each piece when the client has taken the one before it.
 * @param ahead bytes, at most, that the client has to take in the time that answers may wait
 * @throws what the pieces throw, and where they are too few
 */
async function sendPieces(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  bytes: number | undefined,
  ahead: number,
  outgoing: ServerResponse,
): Promise<void> {
  let left = bytes;
  /** Lets it go on. */
  let wake = (): void => {};
  let gone = false;
  outgoing.once('close', () => {
    gone = true;
    wake();
  });
  for await (const piece of pieces) {
    if (gone) return;
    if (left !== undefined) left -= piece.byteLength;
    if (outgoing.socket !== null && left !== undefined) promise(outgoing.socket, Math.min(ahead, Math.max(0, left)));
    await new Promise<void>((resolve) => {
      wake = resolve;
      outgoing.write(piece, () => resolve());
    });
    // When the client has gone, the memory of the other pieces has been given back.
    if (gone) return;
  }
  if (left !== undefined && left !== 0) throw new Error('An answer has not as many bytes as it said');
  outgoing.end();
}
