/**
 * Repairs the handshake of a server before the SDK's client reads it. The SDK's client rejects a handshake of 2025 with unusual
 * icons, and drops `serverInfo` of a 2026 server. So `serverInfo` is repaired before and after the SDK parses it.
 */
import { mendedMessage } from '../protocol/implementation.ts';

/** The part of an SDK transport that delivers messages. */
export interface MessageSource {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/** Wraps a transport, so that its listener gets repaired messages from the first one on. */
export function mendMessages<Source extends MessageSource>(transport: Source): Source {
  type Listener = (message: unknown, extra?: unknown) => void;
  const mending = new WeakSet<Listener>();
  function around(listener: Listener): Listener {
    if (mending.has(listener)) return listener;
    const mended: Listener = (message, extra) => listener(mendedMessage(message), extra);
    mending.add(mended);
    return mended;
  }
  let current = transport.onmessage as Listener | undefined;
  current &&= around(current);
  return Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    enumerable: true,
    get: () => current,
    set(listener: Listener | undefined) {
      current = listener && around(listener);
    },
  });
}

/** Whether the body of a POST asks for the server's identity, in 2026. */
const asksWho = (body: unknown): boolean => typeof body === 'string' && body.includes('"server/discover"');

/**
 * Returns the response to a POST. If the request asked for the server's identity, the messages of the response are repaired,
 * in JSON or in a stream of events; any other response is returned unchanged.
 * @param body the request's body
 */
export async function mendedResponse(body: unknown, response: Response): Promise<Response> {
  if (!asksWho(body) || !response.ok) return response;
  const { status, statusText } = response;
  const type = response.headers.get('content-type') ?? '';
  const headers = { 'content-type': type };
  let content: BodyInit;
  if (!type.startsWith('text/event-stream')) content = mendedText(await response.text());
  else if (response.body === null) return response;
  else
    content = response.body.pipeThrough(
      eachLine((line) => line.replace(/^data:(.*)/, (_, data) => `data:${mendedText(data)}`)),
    );
  const copy = new Response(content, { status, statusText, headers });
  // A copy loses its URL, which redirects and authorization need.
  Object.defineProperty(copy, 'url', { value: response.url });
  return copy;
}

/** Text that is not JSON stays unchanged. */
function mendedText(text: string): string {
  try {
    return JSON.stringify(mendedMessage(JSON.parse(text)));
  } catch {
    return text;
  }
}

/** Changes a text line by line. */
function eachLine(change: (line: string) => string): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) controller.enqueue(encoder.encode(lines.map((line) => `${change(line)}\n`).join('')));
    },
    flush(controller) {
      if (rest !== '') controller.enqueue(encoder.encode(change(rest)));
    },
  });
}
