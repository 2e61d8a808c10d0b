/** Sends the doctor's messages to an endpoint of Streamable HTTP, and keeps its responses. */

import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { HttpTarget } from '../../../client/http.ts';
import { seenIn } from '../../../connection/seen.ts';
import { type Data, isData } from '../../../protocol/data.ts';
import { messageOf } from '../failures.ts';
import {
  ACKNOWLEDGED,
  type Answer,
  answerIn,
  answerTo,
  type Era,
  inEra,
  LEGACY_VERSION,
  MAX_MESSAGE_BYTES,
  MODERN_VERSION,
  none,
  type Wire,
} from './wire.ts';

/** A response, as far as it was read. */
export interface Reply {
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  /** Why there was no response, or only a part of it. */
  readonly failure?: string | undefined;
}

/** One HTTP request. Default: a POST to the endpoint, without headers or body. */
export interface Sending {
  readonly at?: URL | undefined;
  readonly method?: 'POST' | 'GET' | 'DELETE' | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: string | undefined;
  /** Leaves out the credentials and the configured headers. */
  readonly bare?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  /** Takes each message of a stream; returns true to end the reading. */
  readonly onEvent?: ((message: Data) => boolean) | undefined;
  /** Ends the request as soon as the head of the response is there. */
  readonly headOnly?: boolean | undefined;
}

/** A connection over Streamable HTTP. */
export interface HttpWire extends Wire {
  readonly transport: 'http';
  readonly url: URL;
  /** The id of the session; undefined in the 2026 era, or if the server gave none. */
  readonly session: string | undefined;
  /** The first responses, each with the method of its message, and with the beginning of its text. */
  readonly replies: readonly { readonly of: string; readonly reply: Reply }[];
  /** Returns the headers that a message of this connection needs. */
  headersFor(method: string, params: unknown): Readonly<Record<string, string>>;
  /** Never rejects. */
  send(sending: Sending): Promise<Reply>;
}

/** The most responses that are kept. */
const MAX_REPLIES = 500;

/** The most characters of the text of a response that are kept. */
const MAX_KEPT_TEXT = 1_000;

/** Returns a response with the beginning of its text. A slice alone would keep the whole text in memory, so it is copied. */
const shortened = (reply: Reply): Reply => ({
  ...reply,
  text: Buffer.from(reply.text.slice(0, MAX_KEPT_TEXT)).toString(),
});

export const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const;

/** The parameter of each method that is repeated in the header `Mcp-Name` (2026-07-28). */
const NAMED_BY: Readonly<Record<string, string>> = {
  'resources/read': 'uri',
  'tools/call': 'name',
  'prompts/get': 'name',
};

/** @param timeoutMs the milliseconds for one answer */
export function openHttp(target: HttpTarget, era: Era, timeoutMs: number): HttpWire {
  const url = new URL(target.url);
  const replies: { of: string; reply: Reply }[] = [];
  let session: string | undefined;
  let version = LEGACY_VERSION;
  let isInitialized = false;
  let nextId = 1;

  async function credentials(): Promise<Record<string, string>> {
    const { authProvider } = target;
    const token =
      authProvider === undefined || 'token' in authProvider
        ? await authProvider?.token()
        : (await authProvider.tokens())?.access_token;
    return {
      ...lowerCase(target.headers ?? {}),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
  }

  async function send({ at = url, bare = false, headers = {}, ...sending }: Sending): Promise<Reply> {
    try {
      const configured = bare ? {} : await credentials();
      const all = { ...sending, headers: { ...configured, ...headers } };
      return await exchange(at, all, sending.timeoutMs ?? timeoutMs);
    } catch (error) {
      return { status: 0, headers: {}, text: '', failure: `The request could not be sent: ${messageOf(error)}` };
    }
  }

  function headersFor(method: string, params: unknown): Record<string, string> {
    if (era === 'legacy') {
      return {
        ...JSON_HEADERS,
        ...(isInitialized && { 'mcp-protocol-version': version }),
        ...(session !== undefined && { 'mcp-session-id': session }),
      };
    }
    const field = NAMED_BY[method];
    const name = field !== undefined && isData(params) ? params[field] : undefined;
    return {
      ...JSON_HEADERS,
      'mcp-protocol-version': MODERN_VERSION,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': headerText(name) }),
    };
  }

  async function post(method: string, message: Data, sending: Sending = {}): Promise<Reply> {
    const body = JSON.stringify({ jsonrpc: '2.0', method, ...message });
    const reply = await send({ headers: headersFor(method, message.params), body, ...sending });
    if (replies.length < MAX_REPLIES) replies.push({ of: method, reply: shortened(reply) });
    return reply;
  }

  const ask: Wire['ask'] = async (method, params, { id = nextId++, timeoutMs: ms, meta } = {}) => {
    let answer: Answer | undefined;
    const take = (message: Data): boolean => {
      if (message.id === id && !('method' in message)) answer = answerIn(message);
      else if (message.id !== undefined && typeof message.method === 'string') {
        void send({ headers: headersFor('', {}), body: JSON.stringify(answerTo(message.id, message.method)) });
      }
      return answer !== undefined;
    };
    const reply = await post(method, { id, params: inEra(era, params, meta) }, { timeoutMs: ms, onEvent: take });
    if (answer === undefined) takeWhole(reply, take);
    if (method === 'initialize' && answer?.kind === 'result' && !isInitialized) {
      session = single(reply.headers['mcp-session-id']);
      if (typeof answer.result.protocolVersion === 'string') version = answer.result.protocolVersion;
      isInitialized = true;
    }
    return answer ?? none(reply.failure ?? `The answer is HTTP ${reply.status} without a message`);
  };

  return {
    era,
    transport: 'http',
    url,
    get session() {
      return session;
    },
    replies,
    headersFor,
    send,
    ask,
    async notify(method, params) {
      await post(method, { params: inEra(era, params, undefined) });
    },
    async listen(params) {
      let answer: Answer | undefined;
      const id = nextId++;
      const onEvent = (message: Data): boolean => {
        if (message.method === ACKNOWLEDGED) answer = { kind: 'result', result: (message.params ?? {}) as Data };
        else if (message.id === id && !('method' in message)) answer = answerIn(message);
        return answer !== undefined;
      };
      const reply = await post('subscriptions/listen', { id, params: inEra(era, params, undefined) }, { onEvent });
      if (answer === undefined) takeWhole(reply, onEvent);
      return answer ?? none(reply.failure ?? `The answer is HTTP ${reply.status} without a message`);
    },
    async close() {
      if (session === undefined) return;
      await send({ method: 'DELETE', headers: headersFor('', {}), timeoutMs: GRACE_MS });
    },
  };
}

const GRACE_MS = 2_000;

/** Takes the messages of a body in JSON. Any other body has none. */
function takeWhole({ text }: Reply, take: (message: Data) => boolean): void {
  try {
    const message: unknown = JSON.parse(text);
    for (const item of Array.isArray(message) ? message : [message]) if (isData(item)) take(item);
  } catch {
    // The body is not JSON.
  }
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Returns the first value of a header. */
export const single = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' || value === undefined ? value : value[0];

/** Writes a text as the value of a header, in base64 if a header cannot hold it as it is (2026-07-28). */
const headerText = (value: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?')
    ? value
    : `=?base64?${Buffer.from(value).toString('base64')}?=`;

function exchange(url: URL, sending: Sending, timeoutMs: number): Promise<Reply> {
  const { method = 'POST', headers = {}, body, onEvent, headOnly = false } = sending;
  const request = url.protocol === 'https:' ? secureRequest : plainRequest;
  return new Promise((resolve) => {
    let head: Pick<Reply, 'status' | 'headers'> = { status: 0, headers: {} };
    const chunks: Buffer[] = [];
    let bytes = 0;
    const defined = Object.entries(headers).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const sent = request(url, {
      method,
      agent: false,
      headers: {
        ...Object.fromEntries(defined),
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      },
    });
    const end = (failure?: string): void => {
      clearTimeout(timer);
      resolve({ ...head, text: Buffer.concat(chunks).toString('utf8'), ...(failure !== undefined && { failure }) });
      sent.destroy();
    };
    const timer = setTimeout(() => end(`There was no answer in ${timeoutMs / 1_000} s`), timeoutMs);
    sent.on('error', (error: NodeJS.ErrnoException) =>
      end(`The connection failed: ${seenIn(error) ?? error.code ?? error.message}`),
    );
    sent.once('response', (response: IncomingMessage) => {
      head = { status: response.statusCode ?? 0, headers: response.headers };
      if (headOnly) return end();
      const stream = response.headers['content-type']?.startsWith('text/event-stream') === true;
      let rest = '';
      const decoder = new TextDecoder();
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_MESSAGE_BYTES) return end(`The answer has more than ${MAX_MESSAGE_BYTES} bytes`);
        chunks.push(chunk);
        if (!stream || onEvent === undefined) return;
        rest += decoder.decode(chunk, { stream: true });
        const events = rest.split(/\r?\n\r?\n/);
        rest = events.pop() ?? '';
        for (const message of events.flatMap(messageIn)) if (onEvent(message)) return end();
      });
      response.once('end', () => end());
      response.once('error', (error) => end(`The connection failed (${error.message})`));
    });
    sent.end(body);
  });
}

function messageIn(event: string): readonly Data[] {
  const data = event
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).replace(/^ /, ''))
    .join('\n');
  try {
    const value: unknown = JSON.parse(data);
    return isData(value) ? [value] : [];
  } catch {
    return [];
  }
}
