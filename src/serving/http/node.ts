/** Requests and answers of Node.js, without web objects in between. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LongAnswer } from '../dispatch/answer.ts';
import type { EndpointCore } from './endpoint.ts';
import { EventStream } from './events.ts';
import { type HttpAnswer, type HttpRequest, refusal } from './exchange.ts';
import { cutUnread, promise, type Tell } from './slow-clients.ts';

/** A request as Node.js has it. Its signal is made when somebody wants it. */
export class NodeRequest implements HttpRequest {
  readonly #incoming: IncomingMessage;
  readonly #secure: boolean;
  #abort: AbortController | undefined;
  #gone: { readonly reason: unknown } | undefined;

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming;
    this.#secure = 'encrypted' in incoming.socket;
  }

  get method(): string {
    return this.#incoming.method ?? 'GET';
  }

  get url(): string {
    return `${this.#secure ? 'https' : 'http'}://${this.get('host') ?? 'localhost'}${this.#incoming.url ?? '/'}`;
  }

  get headers(): Pick<Headers, 'get' | 'has'> {
    return this;
  }

  /** All that was sent under the name, as one. */
  get(name: string): string | null {
    const { headersDistinct } = this.#incoming;
    const values = headersDistinct[name] ?? headersDistinct[name.toLowerCase()];
    if (values === undefined) return null;
    return values.length === 1 ? (values[0] ?? null) : values.join(', ');
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

/** Answers with the endpoint. */
export async function answerOver(
  core: EndpointCore,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  more: Readonly<Record<string, string>> | undefined,
  failed: (error: unknown) => void,
  tell: Tell,
): Promise<void> {
  const request = new NodeRequest(incoming);
  let sent: (() => void) | undefined;
  let answer: HttpAnswer | undefined;
  const over = (): void => {
    if (!outgoing.writableFinished) request.abort(new Error('The client has gone'));
    sent?.();
    if (answer?.body instanceof EventStream) answer.body.leave();
  };
  outgoing.once('close', over);
  try {
    answer = await core.answer(request, (limit) => bodyOf(incoming, limit), { from: incoming.socket.remoteAddress });
  } catch (error) {
    // Who has gone, or took too long to say what it wants, gets no answer.
    if (outgoing.destroyed || incoming.errored) return;
    failed(error);
    answer = refusal(500, -32_603, 'Internal error');
  }
  sent = answer.sent;
  if (outgoing.closed || outgoing.destroyed) {
    sent?.();
    if (answer.body instanceof EventStream) answer.body.leave();
    return;
  }
  send(answer, outgoing, more, core.limits.maxUnreadBytes, () => cutUnread(incoming.socket, tell));
}

function send(
  { status, headers, body }: HttpAnswer,
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
    outgoing.writeHead(status, { ...all, 'Content-Length': Buffer.byteLength(body) });
    outgoing.end(body);
    return;
  }
  if (body instanceof LongAnswer) {
    outgoing.writeHead(status, { ...all, 'Content-Length': body.bytes });
    void sendPieces(body, outgoing);
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

/** Sends each piece when the client has taken the one before it. */
async function sendPieces(answer: LongAnswer, outgoing: ServerResponse): Promise<void> {
  let left = answer.bytes;
  /** Lets it go on. */
  let wake = (): void => {};
  let gone = false;
  outgoing.once('close', () => {
    gone = true;
    wake();
  });
  for (const piece of answer.pieces()) {
    left -= piece.byteLength;
    if (outgoing.socket !== null) promise(outgoing.socket, left);
    await new Promise<void>((resolve) => {
      wake = resolve;
      outgoing.write(piece, () => resolve());
    });
    // What the rest lies in has been given back.
    if (gone) return;
  }
  outgoing.end();
}

/** The body, or undefined when it has more than `limit` bytes; stops reading there. */
function bodyOf(incoming: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    if (Number(incoming.headers['content-length'] ?? 0) > limit) return resolve(undefined);
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
    incoming.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size)));
    incoming.once('error', reject);
    incoming.once('close', () => {
      // Where it has ended, that was told before.
      if (!incoming.readableEnded) reject(new Error('The request broke off'));
    });
  });
}
