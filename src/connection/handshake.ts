/**
 * The handshake of a server on its way to the SDK's client, which refuses one of 2025 whose icons are not to its liking, and
 * forgets who a server of 2026 is: in its answers `serverInfo` is mended before and after the SDK parses them.
 */
import { mendedMessage } from '../protocol/implementation.ts';

/** As much of a transport of the SDK as is needed to see its messages. */
export interface MessageSource {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/** From now on whoever listens to the transport gets its messages mended, from the first one of the handshake on. */
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

/** Whether the body of a POST asks who the server is, in 2026. */
const asksWho = (body: unknown): boolean => typeof body === 'string' && body.includes('"server/discover"');

/**
 * The response to a POST: where that asked who the server is, with messages that are mended, whether they come as JSON or as
 * a stream of events; any other as it is.
 * @param body of the request
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
  // A copy does not know where it came from; redirects and authorization look at it.
  Object.defineProperty(copy, 'url', { value: response.url });
  return copy;
}

/** Text that is no JSON is left as it is. */
function mendedText(text: string): string {
  try {
    return JSON.stringify(mendedMessage(JSON.parse(text)));
  } catch {
    return text;
  }
}

/** Changes text a line at a time. */
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
