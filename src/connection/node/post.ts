/**
 * Sends a message to an HTTP endpoint, faster than `fetch`. Requests use Node's own kept-alive connections. The common
 * answer, a single message, is passed on in parsed form, without a stream around it.
 */
import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib';
import { breaks } from '../../core/breaks.ts';
import { ConnectionFault, type MessageLimit } from '../faults.ts';
import { type PostMessage, requestIn } from '../http.ts';
import type { Intake } from '../intake.ts';
import { createPieces, textOf } from '../pieces.ts';

/** How long an unused connection is kept, in milliseconds: shorter than servers keep theirs. */
const KEPT_MS = 4_000;

const agents = {
  plain: new PlainAgent({ keepAlive: true, timeout: KEPT_MS }),
  secure: new SecureAgent({ keepAlive: true, timeout: KEPT_MS }),
};

/** Only `fetch` uses the proxy of the environment. */
const PROXIED = process.env.NODE_USE_ENV_PROXY !== undefined;

/** Whether a request is a message, whose redirects the transport follows itself, and needs no proxy. */
const isMessage = (init: RequestInit, headers: Headers): boolean =>
  typeof init.body === 'string' &&
  init.redirect === 'manual' &&
  headers.get('content-type') === 'application/json' &&
  !PROXIED;

/** The most messages in one answer; revision 2025-03-26 allows several. */
const MAX_BATCH = 100;

/** The most bytes, and the longest time in milliseconds, that may follow an answer; beyond that the connection is not reused. */
const REST_BYTES = 64 * 1024;
const REST_MS = 5_000;

type Limits = Pick<Intake, 'maxMessageBytes' | 'excessOf' | 'refuse' | 'use'>;

/** Sends a message; returns undefined for any other request. */
export const postMessage: PostMessage = (url, init, headers, intake) =>
  isMessage(init, headers) ? post(url, init, headers, intake) : undefined;

/**
 * @param intake the limits of an answer with a single message
 * @throws TypeError as `fetch` does, and the reason of the signal; SyntaxError for an answer that is not JSON; ConnectionFault
 *   `too-large`, `garbled`
 */
function post(url: string | URL, { body, signal }: RequestInit, headers: Headers, intake: Limits): Promise<Response> {
  const target = new URL(url);
  return new Promise<Response>((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const own = { 'user-agent': 'node', 'accept-encoding': 'gzip, br' };
    const options = { method: 'POST', headers: { ...own, ...Object.fromEntries(headers) } };
    const sent: ClientRequest =
      target.protocol === 'https:'
        ? secureRequest(target, { ...options, agent: agents.secure })
        : plainRequest(target, { ...options, agent: agents.plain });
    const abort = (): void => {
      sent.destroy();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    sent.once('close', () => signal?.removeEventListener('abort', abort));
    sent.on('error', (cause) => reject(new TypeError('fetch failed', { cause })));
    sent.once('response', (response) => {
      // A stream of changes matters to its end; of any other stream, nothing after the answer matters.
      const lasts = headers.get('mcp-method') === 'subscriptions/listen';
      answerOf(response, lasts, requestIn(body), intake).then(resolve, reject);
    });
    sent.end(body);
  });
}

async function answerOf(
  response: IncomingMessage,
  lasts: boolean,
  id: ReturnType<typeof requestIn>,
  intake: Limits,
): Promise<Response> {
  const maxBytes = intake.maxMessageBytes;
  const tooLarge = (limit: MessageLimit): ConnectionFault => intake.refuse(id, limit);
  const status = response.statusCode ?? 500;
  const content = decoded(response);
  if (NO_BODY.has(status)) {
    discard(content);
    return new Response(null, { status: status === 202 ? 202 : 204, headers: headersOf(response) });
  }
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) {
    content.on('error', () => {});
    response.destroy();
    throw tooLarge('bytes');
  }
  const type = response.headers['content-type'] ?? '';
  if (status === 200 && JSON_TYPE.test(type)) {
    const text = await wholeText(content, maxBytes, tooLarge);
    const taken = breaks();
    const limit = intake.excessOf(text);
    if (limit !== undefined) throw tooLarge(limit);
    // Parsing cannot be paused, so it is a separate step.
    await taken.end();
    void intake.use(text.length);
    return parsed(response, messageIn(text));
  }
  if (status !== 200 || lasts || !type.startsWith('text/event-stream')) return streamed(response, content);
  const { bytes, over } = await firstEvent(content, maxBytes, tooLarge);
  const message = await answerIn(bytes, id, intake);
  if (message !== undefined) {
    void intake.use(bytes.length);
    discard(content);
    return parsed(response, message);
  }
  if (over !== undefined) return new Response(ending(bytes, over), { status, headers: headersOf(response) });
  return new Response(continued(bytes, content), { status, headers: headersOf(response) });
}

const NO_BODY: ReadonlySet<number> = new Set([202, 204]);
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

const FLUSH = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI_FLUSH = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };

/** Returns the decompressed content. */
function decoded(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.toLowerCase();
  if (encoding !== 'gzip' && encoding !== 'br') return response;
  const plain = encoding === 'br' ? createBrotliDecompress(BROTLI_FLUSH) : createGunzip(FLUSH);
  response.once('error', (error) => plain.destroy(error));
  // The stream may fail while nobody reads it; a later reader gets the error.
  plain.on('error', () => {});
  plain.once('close', () => response.destroy());
  return response.pipe(plain);
}

/** Reads what follows an answer, so that the connection can be reused; if that is large or late, closes the connection. */
function discard(content: Readable): void {
  let bytes = 0;
  const late = setTimeout(() => content.destroy(), REST_MS);
  late.unref();
  content.on('error', () => {});
  content.once('close', () => clearTimeout(late));
  content
    .on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > REST_BYTES) content.destroy();
    })
    .resume();
}

type Refusal = (limit: MessageLimit) => ConnectionFault;

function wholeText(content: Readable, maxBytes: number, tooLarge: Refusal): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces = createPieces();
    content.on('data', (chunk: Buffer) => {
      pieces.add(chunk);
      if (pieces.length <= maxBytes) return;
      pieces.take();
      reject(tooLarge('bytes'));
      content.destroy();
    });
    content.once('error', (cause) => reject(new TypeError('terminated', { cause })));
    content.once('end', () => resolve(textOf(pieces.take())));
  });
}

/** @throws SyntaxError, and ConnectionFault `garbled` for too many messages */
function messageIn(text: string): unknown {
  const message: unknown = JSON.parse(text);
  if (!Array.isArray(message) || message.length <= MAX_BATCH) return message;
  throw new ConnectionFault('garbled', `gave an answer of more than ${MAX_BATCH} messages`);
}

interface Begun {
  readonly bytes: Uint8Array;
  /** How the stream ended, if it ended before the first event was complete. */
  readonly over?: 'ended' | Error;
}

/** Reads to the end of the first event, with any bytes after it. */
function firstEvent(content: Readable, maxBytes: number, tooLarge: Refusal): Promise<Begun> {
  return new Promise((resolve, reject) => {
    const pieces = createPieces();
    let last = '';
    const stop = (over?: Begun['over']): void => {
      content.off('data', take).off('end', ended).off('error', stop).pause();
      resolve({ bytes: pieces.take(), ...(over !== undefined && { over }) });
    };
    const ended = (): void => stop('ended');
    function take(chunk: Buffer): void {
      pieces.add(chunk);
      if (pieces.length > maxBytes) {
        reject(tooLarge('bytes'));
        stop();
        content.destroy();
        return;
      }
      const text = last + chunk.toString('latin1');
      last = text.slice(-3);
      if (EVENT_END.test(text)) stop();
    }
    content.on('data', take).once('end', ended).once('error', stop);
  });
}

/** Returns the remaining bytes of an ended stream, followed by its end or its error. */
const ending = (bytes: Uint8Array, over: 'ended' | Error): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => controller.enqueue(bytes),
    pull: (controller) => (over === 'ended' ? controller.close() : controller.error(over)),
  });

/** Returns a stream whose beginning was read already. */
function continued(bytes: Uint8Array, content: Readable): ReadableStream<Uint8Array> {
  const rest: AsyncIterator<Uint8Array> = content[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes),
    async pull(controller) {
      const { done, value } = await rest.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void content.destroy(),
  });
}

const EVENT_END = /\r?\n\r?\n/;

/**
 * Returns the message of a single, complete event that answers this request; undefined for anything else, and for one
 * over a limit. Measuring it is one step, and parsing it another.
 */
async function answerIn(event: Uint8Array, id: ReturnType<typeof requestIn>, { excessOf }: Limits): Promise<unknown> {
  const data: string[] = [];
  const taken = breaks();
  if (!EVENT_END.test(textOf(event.subarray(-4)))) return undefined;
  for (const line of textOf(event).trimEnd().split(/\r?\n/)) {
    if (line.startsWith('data:')) data.push(line.slice('data:'.length));
    else if (!line.startsWith('id:') && line !== 'event: message') return undefined;
  }
  const text = data.join('\n');
  if (excessOf(text) !== undefined) return undefined;
  await taken.end();
  try {
    const message: unknown = JSON.parse(text);
    const isAnswer =
      typeof message === 'object' && message !== null && 'id' in message && !('method' in message) && message.id === id;
    return isAnswer && ('result' in message || 'error' in message) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Makes the parts of a response that the transport reads when it has one message. */
function parsed({ headers }: IncomingMessage, message: unknown): Response {
  const get = (name: string): string | null => {
    const key = name.toLowerCase();
    return key === 'content-type' ? 'application/json' : (headers[key]?.toString() ?? null);
  };
  const answer: Pick<Response, 'ok' | 'status' | 'statusText' | 'body' | 'json' | 'text'> & {
    readonly headers: Pick<Headers, 'get' | 'has'>;
  } = {
    ok: true,
    status: 200,
    statusText: 'OK',
    headers: { get, has: (name) => get(name) !== null },
    body: null,
    json: async () => message,
    text: async () => JSON.stringify(message),
  };
  return answer as Response;
}

const streamed = (response: IncomingMessage, content: Readable): Response =>
  new Response(Readable.toWeb(content) as ReadableStream<Uint8Array>, {
    status: response.statusCode ?? 500,
    statusText: response.statusMessage ?? '',
    headers: headersOf(response),
  });

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}
