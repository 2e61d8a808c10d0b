/** Makes a transport to a Streamable HTTP endpoint. It limits what the server sends, and reports when the stream of notifications ends. */
import {
  type AuthProvider,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { letIn, type StreamOwner, upTo, whole } from './events.ts';
import { mendedResponse, mendMessages } from './handshake.ts';
import type { Id, Intake } from './intake.ts';
import { takeOrigin } from './message-origin.ts';

/** A Streamable HTTP endpoint. */
export interface Endpoint {
  readonly url: string | URL;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Gets and renews tokens, in one of the two ways of the SDK. */
  readonly auth?: AuthProvider | OAuthClientProvider | undefined;
  /** Replaces the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Sends a message in another way than `fetch`. It returns undefined for a message that `fetch` has to send. */
  readonly post?: PostMessage | undefined;
}

export type PostMessage = (
  url: string | URL,
  init: RequestInit,
  headers: Headers,
  intake: Intake,
) => Promise<Response> | undefined;

/** The stream on which a 2025-era server sends what no request asked for. The transport opens it again by itself. */
export interface StreamEvents {
  /** The stream is open again: messages that the server sent meanwhile are lost. */
  again(): void;
  /** The stream has ended. */
  ended(): void;
}

/** The most bytes that are read of the body of a refusal: its first words are enough. */
const MAX_REFUSAL_BYTES = 64 * 1024;

const RECONNECTION = {
  initialReconnectionDelay: 250,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 4,
} as const;

export function httpTransport(endpoint: Endpoint, intake: Intake, events: StreamEvents): StreamableHTTPClientTransport {
  const { url, headers, auth, fetch: send = globalThis.fetch, post } = endpoint;
  let streams = 0;

  async function message(address: string | URL, init: RequestInit): Promise<Response> {
    const { headers: sent, origin } = takeOrigin(init.headers);
    const id = requestIn(init.body);
    if (id !== undefined) intake.sent(id);
    const response = await (post?.(address, init, sent, intake) ?? send(address, { ...init, headers: sent }));
    if (response.body === null && id !== undefined) intake.done(id);
    return mendedResponse(init.body, bounded(response, intake, { id, origin }));
  }

  const transport = new StreamableHTTPClientTransport(new URL(url), {
    async fetch(address, init) {
      if (init?.method === 'POST') return message(address, init);
      const response = bounded(await send(address, init), intake);
      if (init?.method !== 'GET' || !response.ok || response.body === null || !isStream(response)) return response;
      if (++streams > 1) events.again();
      return copyOf(
        response,
        untilEnd(response.body, () => init.signal?.aborted !== true && events.ended()),
      );
    },
    ...(headers !== undefined && { requestInit: { headers: { ...headers } } }),
    ...(auth !== undefined && { authProvider: auth }),
    reconnectionOptions: RECONNECTION,
  });
  return mendMessages(transport);
}

/** Returns the id of the request in a body; undefined if the body is no request that is answered on this stream. */
export function requestIn(body: RequestInit['body'] | undefined): Id | undefined {
  if (typeof body !== 'string') return undefined;
  const { id, method } = JSON.parse(body) as { readonly id?: unknown; readonly method?: unknown };
  // A stream of changes is not answered: the end of the HTTP stream is its only end.
  if (method === undefined || method === 'subscriptions/listen') return undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true;

/** Returns the response with a body that is cut at the limits. */
function bounded(response: Response, intake: Intake, owner: StreamOwner = {}): Response {
  const { body } = response;
  if (body === null) return response;
  if (!response.ok) return copyOf(response, upTo(body, MAX_REFUSAL_BYTES));
  return copyOf(response, isStream(response) ? letIn(body, intake, owner) : whole(body, intake, owner.id));
}

function copyOf({ status, statusText, headers, url }: Response, body: ReadableStream<Uint8Array>): Response {
  const copy = new Response(body, { status, statusText, headers });
  // A copy has no URL of its own, but redirects and authorization need it.
  Object.defineProperty(copy, 'url', { value: url });
  return copy;
}

/** Passes the bytes on, and calls `ended` when they end or fail. */
function untilEnd(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        controller.close();
        ended();
      } catch (error) {
        controller.error(error);
        ended();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
