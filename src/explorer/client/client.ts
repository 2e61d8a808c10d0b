/**
 * A small client for MCP 2026-07-28 over `fetch`: each request is one POST of its own. If the server needs input, a person answers
 * its questions, and the request is sent again with the answers.
 */
import type { InputRequest, InputRequired } from '../../protocol/input-required.ts';
import { eventsOf } from './events.ts';
import { type Exchange, MAX_KEPT } from './exchange.ts';
import { isAbort, Refusal } from './refusal.ts';

export type Data = Readonly<Record<string, unknown>>;

/**
 * Puts a question to a person. Resolves with the result that this kind of question has.
 * @param signal aborts when the request that asks is given up
 */
export type Questioner = (request: InputRequest, signal?: AbortSignal) => Promise<Data>;

/** Handles a notification from a listen stream. */
export type OnNotification = (method: string, params: Data) => void;

/** A connection to an MCP server, as far as the explorer needs it: over `fetch`, or through the host of an MCP App. */
export interface Client {
  /** Sends a request. @throws Refusal if it fails, and a DOMException `AbortError` after an abort */
  request<T>(method: string, params?: Data, signal?: AbortSignal): Promise<T>;
  /**
   * Listens for notifications until the signal aborts. Resolves when the stream has ended.
   * @param onNotification also gets the acknowledgement
   */
  listen(notifications: Data, onNotification: OnNotification, signal: AbortSignal): Promise<void>;
}

export interface ClientOptions {
  /** The address of the endpoint, which has the origin of the page. */
  readonly endpoint: string;
  readonly ask: Questioner;
  /** Called with each exchange when it begins and when it has ended. */
  readonly wire: (exchange: Exchange) => void;
}

const REVISION = '2026-07-28';

/** The parameter of each method that is repeated in the header `Mcp-Name`. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'resources/read': 'uri',
  'tools/call': 'name',
  'prompts/get': 'name',
};

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'vitrine-explorer', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} }, sampling: {} },
};

/** The most bytes of one answer. A listen stream has no such limit, since nothing of it is kept. */
const MAX_ANSWER = 64 * 1024 * 1024;

/** The most rounds of questions within one request. */
const MAX_ROUNDS = 16;

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: Data;
  readonly result?: Data;
  readonly error?: { readonly code?: number; readonly message?: string; readonly data?: { readonly reason?: unknown } };
}

export function createClient({ endpoint, ask, wire }: ClientOptions): Client {
  let lastId = 0;

  async function post(method: string, params: Data, signal: AbortSignal | undefined) {
    const id = ++lastId;
    const meta = typeof params._meta === 'object' ? params._meta : {};
    const body = { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...meta, ...ENVELOPE } } };
    const exchange: Exchange = { id, method, at: Date.now(), request: JSON.stringify(body, null, 2) };
    wire(exchange);
    const began = performance.now();
    const ended = (more: Partial<Exchange>): void => wire({ ...exchange, ...more, ms: performance.now() - began });
    try {
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: headersOf(method, params),
        body: JSON.stringify(body),
        credentials: 'same-origin',
        ...(signal !== undefined && { signal }),
      });
      return { id, response, ended };
    } catch (error) {
      ended({ answer: String(error) });
      throw isAbort(error) ? error : new Refusal('unavailable', String(error));
    }
  }

  async function requestOnce(method: string, params: Data, signal: AbortSignal | undefined): Promise<Data> {
    const { id, response, ended } = await post(method, params, signal);
    /** The beginning of the answer, which the wire drawer shows. */
    let answer = '';
    let bytes = 0;
    let message: Message | undefined;
    const body = limited(response, (sum) => {
      bytes = sum;
    });
    try {
      if (isStream(response) && body !== null) {
        for await (const data of eventsOf(body)) {
          if (answer.length < MAX_KEPT) answer = `${answer}${data}\n`.slice(0, MAX_KEPT);
          const received = parsed(data);
          if (received?.id === id && received.method === undefined) message = received;
        }
      } else {
        const text = await new Response(body).text();
        answer = text.slice(0, MAX_KEPT);
        message = parsed(text);
      }
    } finally {
      ended({ answer, bytes, status: response.status });
    }
    if (response.status === 401) throw new Refusal('unauthorized', message?.error?.message ?? '');
    if (message?.error !== undefined) throw refused(message.error);
    if (typeof message?.result !== 'object')
      throw new Refusal(response.status === 503 ? 'unavailable' : 'internal', `HTTP ${response.status}`);
    return message.result;
  }

  return {
    async request<T>(method: string, params: Data = {}, signal?: AbortSignal): Promise<T> {
      let sent: Data = params;
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const result = await requestOnce(method, sent, signal);
        if (result.resultType !== 'input_required') return result as T;
        const { inputRequests = {}, requestState } = result as unknown as InputRequired;
        const inputResponses: Record<string, Data> = {};
        // One after the other, because a person answers them.
        for (const [key, request] of Object.entries(inputRequests)) inputResponses[key] = await ask(request, signal);
        sent = { ...params, inputResponses, ...(requestState !== undefined && { requestState }) };
      }
      throw new Refusal('limited', '');
    },
    async listen(notifications, onNotification, signal) {
      const { response, ended } = await post('subscriptions/listen', { notifications }, signal);
      ended({ status: response.status });
      if (!isStream(response) || response.body === null) throw new Refusal('internal', `HTTP ${response.status}`);
      for await (const data of eventsOf(response.body)) {
        const message = parsed(data);
        if (typeof message?.method === 'string') onNotification(message.method, message.params ?? {});
      }
    },
  };
}

/** Returns the body, which fails with `too-large` if it is too long. @param counted called with the number of bytes so far */
function limited({ body }: Response, counted: (sum: number) => void): ReadableStream<Uint8Array<ArrayBuffer>> | null {
  let sum = 0;
  return (
    body?.pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          sum += chunk.byteLength;
          counted(sum);
          if (sum > MAX_ANSWER) throw new Refusal('too-large', '');
          controller.enqueue(chunk);
        },
      }),
    ) ?? null
  );
}

const isStream = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/event-stream') === true;

function parsed(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function refused({ code, message = '', data }: NonNullable<Message['error']>): Refusal {
  const reason = typeof data?.reason === 'string' ? data.reason : code === -32_602 ? 'invalid' : 'internal';
  return new Refusal(reason, message, code);
}

/** Returns the headers of a request (SEP-2243). */
export function headersOf(method: string, params: Data): Record<string, string> {
  const name = params[NAMED_BY[method] ?? ''];
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': REVISION,
    'Mcp-Method': method,
    ...(typeof name === 'string' && { 'Mcp-Name': headerText(name) }),
  };
}

/** Writes a text for a header: in base64 unless it is plain ASCII (SEP-2243). */
function headerText(text: string): string {
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith('=?base64?')) return text;
  const bytes = new TextEncoder().encode(text);
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}?=`;
}
